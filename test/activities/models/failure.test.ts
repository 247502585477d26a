import { toError } from '../../../src/activities/as-failure';
import { judgeReply, toProviderFailure } from '../../../src/activities/models';
import { diagnoseHttp } from '../../../src/activities/models/diagnose';
import { retryDelayIn } from '../../../src/activities/models/failures/retry-delay';
import type { ModelReply } from '../../../src/activities/models/model';
import { TransportError } from '../../../src/activities/models/transport';
import { FAILURES } from '../../../src/protocol/failures';
import { aCard, aRequest, NOTHING } from './ask';

const REQUEST = aRequest(aCard({}));

/** Returns an error as `fetch` throws it: the cause says what happened. */
function broken(message: string, fields: object): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), fields) });
}

/** Returns an error as an SDK throws it for this response. */
function answered(status: number, error: object, headers: Record<string, string> = {}): Error {
  const answer = { status, headers: new Headers(headers), body: JSON.stringify({ error }) };
  return new Error('Connection error.', { cause: new TransportError(diagnoseHttp(answer), answer) });
}

test('says who answered what, why, and what to do', () => {
  const error = answered(401, { message: 'Incorrect API key provided.' });
  expect(toProviderFailure(error, REQUEST)).toEqual({
    type: FAILURES.authentication,
    message:
      "worker ada (openai sim-1) answered 401: Incorrect API key provided. Set the key's variable and start again.",
    retryable: false,
    nextRetryDelayMs: null,
    billed: 'no',
    health: 'good',
  });
});

const FREE = { type: FAILURES.unavailable, retryable: true, billed: 'no' };
const LOST = { type: FAILURES.interrupted, retryable: false, billed: 'unknown' };

test.each([
  ['ECONNREFUSED', 'connect', FREE],
  ['ENOTFOUND', 'getaddrinfo', FREE],
  ['EAI_AGAIN', 'getaddrinfo', FREE],
  ['EHOSTUNREACH', 'connect', FREE],
  ['ETIMEDOUT', 'connect', FREE],
  ['UND_ERR_CONNECT_TIMEOUT', undefined, FREE],
  ['CERT_HAS_EXPIRED', undefined, FREE],
  ['ERR_SSL_WRONG_VERSION_NUMBER', undefined, FREE],
  ['ECONNRESET', 'read', LOST],
  ['EPIPE', 'write', LOST],
  ['UND_ERR_SOCKET', undefined, LOST],
  ['HPE_INVALID_CONSTANT', undefined, LOST],
  ['ETIMEDOUT', 'read', LOST],
])(
  '%s in %s is free and retried before the request is sent, and may be billed after it',
  (code, syscall, failure) => {
    expect(toProviderFailure(broken(code, { code, syscall }), REQUEST)).toMatchObject(failure);
  },
);

test('reports the first of several addresses that were tried', () => {
  const facts = { code: 'ECONNREFUSED', syscall: 'connect' };
  const each = Object.assign(new Error('connect ECONNREFUSED ::1:9'), facts);
  const cause = Object.assign(new AggregateError([each]), { code: 'ECONNREFUSED' });
  const failure = toProviderFailure(new TypeError('fetch failed', { cause }), REQUEST);
  expect(failure?.message).toContain('could not be reached: connect ECONNREFUSED ::1:9.');
});

test('a URL that fetch refuses is a wrong setting, not a network failure', () => {
  const failure = toProviderFailure(broken('bad port', {}), REQUEST);
  expect(failure).toMatchObject({ type: FAILURES.badRequest, retryable: false, billed: 'no' });
  expect(failure?.message).toContain('could not be asked: bad port.');
});

test.each([
  ['OpenAI', 429, { code: 'insufficient_quota', type: 'insufficient_quota' }],
  ['Anthropic, by type', 402, { type: 'billing_error', message: 'Pay first.' }],
  ['Anthropic, by words', 400, { type: 'invalid_request_error', message: 'Your credit balance is too low.' }],
  ['OpenRouter', 402, { code: 402, message: 'Insufficient credits' }],
])('an empty account at %s is a permanent failure', (_, status, body) => {
  const failure = { type: FAILURES.quotaExceeded, retryable: false };
  expect(toProviderFailure(answered(status, body), REQUEST)).toMatchObject(failure);
});

test.each([
  ['OpenAI', 404, { code: 'model_not_found', message: 'The model `gpt-9` does not exist.' }],
  ['Groq', 400, { code: 'model_not_found', message: 'No such thing.' }],
  ['DeepSeek', 400, { code: 'invalid_request_error', message: 'Model Not Exist' }],
  ['OpenRouter', 400, { code: 400, message: 'acme/none is not a valid model ID' }],
  ['Mistral', 400, { code: '1500', message: 'Invalid model: none' }],
])('a model that %s does not have is distinguished from a bad request', (_, status, body) => {
  const failure = { type: FAILURES.notFound, retryable: false, billed: 'no' };
  expect(toProviderFailure(answered(status, body), REQUEST)).toMatchObject(failure);
});

test.each([
  ['a wrong request', [409, 412, 307], { type: FAILURES.badRequest, billed: 'no' }],
  [
    'a gateway that lost the answer',
    [502, 520],
    { type: FAILURES.timeout, billed: 'unknown', health: 'bad' },
  ],
  [
    'a gateway that did not wait for it',
    [504, 524],
    { type: FAILURES.timeout, billed: 'unknown', health: 'unknown' },
  ],
])('statuses of %s', (_, statuses, failure) => {
  for (const status of statuses) {
    expect(toProviderFailure(answered(status, {}), REQUEST)).toMatchObject(failure);
  }
});

test('becomes a Temporal failure without the original error as its cause', () => {
  const rateLimited = answered(429, { message: 'Slow down.' }, { 'retry-after': '3' });
  const failure = toProviderFailure(rateLimited, REQUEST);
  if (failure === null) throw new Error('A 429 was taken for a cancellation.');
  const thrown = toError(failure, []);
  expect(thrown).toMatchObject({
    type: FAILURES.rateLimited,
    message: failure.message,
    nonRetryable: false,
    nextRetryDelay: 3000,
    details: [{ calls: [] }],
  });
  expect(thrown.cause).toBeUndefined();
  expect(toError({ ...failure, retryable: false }, [])).toMatchObject({ nonRetryable: true });
  // Waits at most ten minutes for a distant date.
  expect(toError({ ...failure, nextRetryDelayMs: 7_200_000 }, [])).toMatchObject({ nextRetryDelay: 600_000 });
});

function judge(reply: Partial<ModelReply>) {
  return judgeReply({ ...NOTHING, ...reply }, REQUEST);
}

test('a complete answer is used unchanged', () => {
  expect(judge({ text: ' Eight. \n' })).toMatchObject({ kind: 'answered', reply: { text: ' Eight. \n' } });
});

test.each<[string, Partial<ModelReply>, string, string]>([
  ['a refusal', { finish: 'refusal', refusal: 'Not that.' }, FAILURES.refused, 'sim-1) declined: Not that. '],
  ['a cut answer', { finish: 'length', text: 'Eight' }, FAILURES.truncated, 'before the answer was whole'],
  ['reasoning alone', { finish: 'length', text: ' ' }, FAILURES.truncated, 'before the first word'],
  ['an empty answer', { text: '\n' }, FAILURES.badResponse, 'an empty answer'],
  [
    'thoughts without an answer',
    { thoughts: 'Two by two ...' },
    FAILURES.badResponse,
    "sent its thoughts, and no answer. Raise the worker's maxOutputTokens or lower its effort.",
  ],
])('%s is a failure that was billed', (_, reply, type, words) => {
  const message: unknown = expect.stringContaining(words);
  const failure = { type, message, retryable: false, billed: 'yes' };
  expect(judge(reply)).toMatchObject({ kind: 'failed', failure, reply });
});

test.each<[string, Record<string, string>, number | null]>([
  ['milliseconds', { 'retry-after-ms': '1500' }, 1500],
  ['fractions of a millisecond, rounded up', { 'retry-after-ms': '12.3' }, 13],
  ['seconds', { 'retry-after': '20' }, 20_000],
  ['milliseconds before seconds', { 'retry-after-ms': '900', 'retry-after': '20' }, 900],
  ['a date', { 'retry-after': 'Sat, 21 Nov 2026 09:00:30 GMT' }, 30_000],
  [
    'a date by the clock of the server',
    { 'retry-after': 'Sat, 21 Nov 2026 06:00:20 GMT', date: 'Sat, 21 Nov 2026 06:00:00 GMT' },
    20_000,
  ],
  ['a day', { 'retry-after': '86400' }, 86_400_000],
  ['seconds with their unit', { 'retry-after': '60s' }, 60_000],
  ['minutes and seconds', { 'retry-after': '1m30s' }, 90_000],
  ['words', { 'retry-after': '2 minutes' }, 120_000],
  ['milliseconds with their unit', { 'retry-after': '250ms' }, 250],
  ['hours', { 'retry-after': '1h2m3.5s' }, 3_723_500],
  ['a duration of ISO 8601', { 'retry-after': 'PT1M30S' }, 90_000],
  ['nothing for a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 08:00:00 GMT' }, null],
  ['nothing for 0', { 'retry-after': '0' }, null],
  ['nothing for what is neither', { 'retry-after': 'soon', 'retry-after-ms': '-5' }, null],
  ['nothing where nothing is said', {}, null],
])('for the retry delay, reads %s', (_, headers, expected) => {
  jest.useFakeTimers({ now: Date.parse('2026-11-21T09:00:00Z') });
  const waitMs = retryDelayIn({ headers: new Headers(headers), body: '' });
  jest.useRealTimers();
  expect(waitMs).toBe(expected);
});

test("reads Gemini's RetryInfo", () => {
  const bodyWith = (retryDelay: string) =>
    JSON.stringify({ error: { details: [{ '@type': 'google.rpc.RetryInfo', retryDelay }] } }, null, 2);
  const headers = new Headers();
  expect(retryDelayIn({ headers, body: bodyWith('34.074s') })).toBe(34_074);
  expect(retryDelayIn({ headers, body: bodyWith('a while') })).toBeNull();
});
