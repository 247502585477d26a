import type { Health } from '../../../src/activities/models/diagnose';
import { FAILURES } from '../../../src/protocol/failures';
import { type Fault, startSimulatedProviders } from '../../../src/testing';
import { useOnce } from '../../support/use';
import { aRequest, BOTH_WAYS, failureOf, KEY } from './ask';

const providers = useOnce(() => startSimulatedProviders());

const { rateLimited, unavailable, timeout, interrupted, badResponse } = FAILURES;
const { badRequest, notFound, authentication, quotaExceeded } = FAILURES;

const FREE = { retryable: true, billed: 'no' };
const UNKNOWN = { retryable: false, billed: 'unknown' };
const REFUSED = { retryable: false, billed: 'no' };

/** Each wire fault with the failure that must follow from it, by the rules of `protocol/failures.ts`, and its health. */
const CASES: readonly [Fault['fault'], string, { retryable: boolean; billed: string }, Health][] = [
  ['rate-limited', rateLimited, FREE, 'good'],
  ['server-error', unavailable, FREE, 'bad'],
  ['unavailable', unavailable, FREE, 'bad'],
  ['overloaded', unavailable, FREE, 'bad'],
  ['request-timeout', timeout, UNKNOWN, 'unknown'],
  ['bad-gateway', timeout, UNKNOWN, 'bad'],
  ['gateway-timeout', timeout, UNKNOWN, 'unknown'],
  ['reset', interrupted, UNKNOWN, 'bad'],
  ['cut-mid-body', interrupted, UNKNOWN, 'bad'],
  ['html', badResponse, UNKNOWN, 'bad'],
  ['html-bad-gateway', timeout, UNKNOWN, 'bad'],
  ['bad-request', badRequest, REFUSED, 'good'],
  ['not-found', notFound, REFUSED, 'good'],
  ['too-large', badRequest, REFUSED, 'good'],
  ['unprocessable', badRequest, REFUSED, 'good'],
  ['unauthorized', authentication, REFUSED, 'good'],
  ['invalid-key', authentication, REFUSED, 'good'],
  ['forbidden', authentication, REFUSED, 'good'],
  ['quota-exceeded', quotaExceeded, REFUSED, 'good'],
];

describe.each(BOTH_WAYS)('$name', ({ streams, complete, card }) => {
  test.each(CASES)('%s is %s, after one request', async (fault, type, consequence, health) => {
    const before = providers.log.length;
    providers.script('sim-1', [{ fault }]);
    const failure = await failureOf(complete, aRequest(card(providers.url)));
    expect(failure).toMatchObject({ type, ...consequence, health });
    expect(providers.log).toHaveLength(before + 1);
    expect(failure?.message).toMatch(/^worker ada \(\w+ sim-1\) .+\. [A-Z].+\.$/);
  });

  test.each(['truncated', 'truncated-chunked', 'failed-midway'] as const)(
    '%s may have been billed; a stream is reported as interrupted, a whole answer as a bad response',
    async (fault) => {
      providers.script('sim-1', [{ fault }]);
      const failure = await failureOf(complete, aRequest(card(providers.url)));
      expect(failure).toMatchObject({ type: streams ? interrupted : badResponse, ...UNKNOWN });
    },
  );

  test('an error that the server reports in place of a reply, or of its rest, says nothing about the model', async () => {
    providers.script('sim-1', [{ fault: 'failed-midway' }]);
    expect(await failureOf(complete, aRequest(card(providers.url)))).toMatchObject({ health: 'unknown' });
  });

  test('keeps the key out of the message, even if the provider repeats it', async () => {
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

  test('a cancellation closes the connection and is not a failure', async () => {
    const run = new AbortController();
    const { failure, sequence } = await hanging(run);
    run.abort(new Error('cancelled'));
    await providers.waitForClose(sequence);
    expect(await failure).toBeNull();
  });

  test('our timeout closes the connection, and is reported as a timeout that may have been billed', async () => {
    const clock = new AbortController();
    const { failure, sequence } = await hanging(clock);
    clock.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    await providers.waitForClose(sequence);
    expect(await failure).toMatchObject({ type: timeout, ...UNKNOWN, health: 'unknown' });
    expect((await failure)?.message).toContain('gave no answer within 1.5 s.');
  });

  /** Starts a request that is never answered, and waits until the provider has it. */
  async function hanging({ signal }: AbortController) {
    const before = providers.log.length;
    providers.script('sim-1', [{ fault: 'hang' }]);
    const failure = failureOf(complete, aRequest({ ...card(providers.url), timeoutMs: 1500 }, { signal }));
    const { sequence } = await providers.waitForRequest((asked) => asked.sequence > before);
    return { failure, sequence };
  }

  test('sends nothing if the signal is already aborted', async () => {
    const before = providers.log.length;
    const request = aRequest(card(providers.url), { signal: AbortSignal.abort() });
    expect(await failureOf(complete, request)).toBeNull();
    expect(providers.log).toHaveLength(before);
  });

  test('waits as long as the provider asks in the format of its own API', async () => {
    const as = card('').provider === 'google' ? 'retry-info' : 'milliseconds';
    providers.script('sim-1', [{ fault: 'rate-limited', retryAfter: { ms: 2500, as } }]);
    expect(await failureOf(complete, aRequest(card(providers.url)))).toMatchObject({
      nextRetryDelayMs: 2500,
    });
  });
});
