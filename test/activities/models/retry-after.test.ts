import { readHttpError, readRetryAfter } from '../../../src/activities/models/http-error';

const NOW = Date.parse('2026-11-21T09:00:00Z');

function delayOf(headers: Record<string, string>, details: object[] = []): number | null {
  const http = { status: 429, reason: '', codes: [], details, headers: new Headers(headers) };
  return readRetryAfter(http, NOW);
}

test.each([
  ['milliseconds', { 'retry-after-ms': '1500' }, 1500],
  ['fractions of a millisecond, rounded up', { 'retry-after-ms': '12.3' }, 13],
  ['seconds', { 'retry-after': '20' }, 20_000],
  ['milliseconds before seconds', { 'retry-after-ms': '900', 'retry-after': '20' }, 900],
  ['a date', { 'retry-after': 'Sat, 21 Nov 2026 09:00:30 GMT' }, 30_000],
  ['a date of RFC 850', { 'retry-after': 'Saturday, 21-Nov-26 09:00:30 GMT' }, 30_000],
  ['a date of asctime, which means GMT', { 'retry-after': 'Sat Nov 21 09:00:30 2026' }, 30_000],
  [
    "a date by the server's own clock",
    { 'retry-after': 'Sat, 21 Nov 2026 12:00:07 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
    7000,
  ],
  ['at most 10 minutes', { 'retry-after': '86400' }, 600_000],
  ['nothing for a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 08:00:00 GMT' }, null],
  ['nothing for 0', { 'retry-after': '0' }, null],
  ['nothing for what is neither', { 'retry-after': 'soon', 'retry-after-ms': '-5' }, null],
  ['nothing where nothing is said', {}, null],
])('reads %s', (_, headers: Record<string, string>, expected) => {
  expect(delayOf(headers)).toBe(expected);
});

test("reads Gemini's RetryInfo, and only that of its details", () => {
  const info = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
  expect(delayOf({}, [{ '@type': 'type.googleapis.com/google.rpc.Help' }, info('34.074s')])).toBe(34_074);
  expect(delayOf({}, [info('a while')])).toBeNull();
});

test("finds RetryInfo in the JSON that Gemini's SDK puts into the message", () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2s' }];
  const message = JSON.stringify({
    error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED', details },
  });
  const http = readHttpError(Object.assign(new Error(message), { status: 429 }));
  expect(http).toMatchObject({ reason: 'Slow down.', codes: ['429', 'resource_exhausted'], headers: null });
  expect(http && readRetryAfter(http, NOW)).toBe(2000);
});
