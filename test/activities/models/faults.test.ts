import { FAILURES } from '../../../src/protocol/failures';
import { type Fault, startSimulatedProviders, type SimulatedProviders } from '../../../src/testing';
import { aRequest, DIALECTS, failureOf, KEY } from './ask';

let providers: SimulatedProviders;
beforeAll(async () => {
  providers = await startSimulatedProviders();
});
afterAll(() => providers.close());

const { rateLimited, unavailable, timeout, interrupted, badResponse } = FAILURES;
const { badRequest, notFound, authentication, quotaExceeded } = FAILURES;

/** Each fault of the wire with what must follow from it: by the law of `protocol/failures.ts`. */
const CASES: readonly [Fault['fault'], string, { retryable: boolean; billed: string }][] = [
  ['rate-limited', rateLimited, { retryable: true, billed: 'no' }],
  ['server-error', unavailable, { retryable: true, billed: 'no' }],
  ['unavailable', unavailable, { retryable: true, billed: 'no' }],
  ['overloaded', unavailable, { retryable: true, billed: 'no' }],
  ['request-timeout', timeout, { retryable: false, billed: 'unknown' }],
  ['bad-gateway', timeout, { retryable: false, billed: 'unknown' }],
  ['gateway-timeout', timeout, { retryable: false, billed: 'unknown' }],
  ['reset', interrupted, { retryable: false, billed: 'unknown' }],
  ['cut-mid-body', interrupted, { retryable: false, billed: 'unknown' }],
  ['truncated', badResponse, { retryable: false, billed: 'unknown' }],
  ['truncated-chunked', badResponse, { retryable: false, billed: 'unknown' }],
  ['html', badResponse, { retryable: false, billed: 'unknown' }],
  ['html-bad-gateway', timeout, { retryable: false, billed: 'unknown' }],
  ['bad-request', badRequest, { retryable: false, billed: 'no' }],
  ['not-found', notFound, { retryable: false, billed: 'no' }],
  ['too-large', badRequest, { retryable: false, billed: 'no' }],
  ['unprocessable', badRequest, { retryable: false, billed: 'no' }],
  ['unauthorized', authentication, { retryable: false, billed: 'no' }],
  ['invalid-key', authentication, { retryable: false, billed: 'no' }],
  ['forbidden', authentication, { retryable: false, billed: 'no' }],
  ['quota-exceeded', quotaExceeded, { retryable: false, billed: 'no' }],
];

describe.each(DIALECTS)('$name', ({ complete, card }) => {
  test.each(CASES)('%s is %s, after one request', async (fault, type, consequence) => {
    const before = providers.log.length;
    providers.script('sim-1', [{ fault } as Fault]);
    const failure = await failureOf(complete, aRequest(card(providers.url)));
    expect(failure).toMatchObject({ type, ...consequence });
    expect(providers.log).toHaveLength(before + 1);
    expect(failure?.message).toMatch(/^worker ada \(\w+ sim-1\) .+\. [A-Z].+\.$/);
  });

  test('keeps the key out of the message, even where the provider repeats it', async () => {
    providers.script('sim-1', [
      { fault: 'invalid-key', message: `Incorrect API key provided: ${KEY}.` },
      { fault: 'rate-limited', message: `Bearer ${KEY} is too fast; so is sk-other0123456789.` },
    ]);
    const first = await failureOf(complete, aRequest(card(providers.url)));
    const second = await failureOf(complete, aRequest(card(providers.url)));
    expect(first?.message).toContain('Incorrect API key provided: [key]');
    for (const failure of [first, second]) {
      expect(Buffer.from(JSON.stringify(failure)).includes(KEY)).toBe(false);
      expect(JSON.stringify(failure)).not.toContain('sk-other');
    }
  });

  test('waits as long as the provider says, in the words of its own API', async () => {
    const as = card('').provider === 'google' ? 'retry-info' : 'milliseconds';
    providers.script('sim-1', [{ fault: 'rate-limited', retryAfter: { ms: 2500, as } }]);
    expect(await failureOf(complete, aRequest(card(providers.url)))).toMatchObject({
      nextRetryDelayMs: 2500,
    });
  });
});
