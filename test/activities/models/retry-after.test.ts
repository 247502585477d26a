import { retryDelayIn } from '../../../src/activities/models/failure';

const NOW = Date.parse('2026-11-21T09:00:00Z');
beforeEach(() => jest.useFakeTimers({ now: NOW }));
afterEach(() => jest.useRealTimers());

test.each<[string, Record<string, string>, number | null]>([
  ['milliseconds', { 'retry-after-ms': '1500' }, 1500],
  ['fractions of a millisecond, rounded up', { 'retry-after-ms': '12.3' }, 13],
  ['seconds', { 'retry-after': '20' }, 20_000],
  ['milliseconds before seconds', { 'retry-after-ms': '900', 'retry-after': '20' }, 900],
  ['a date', { 'retry-after': 'Sat, 21 Nov 2026 09:00:30 GMT' }, 30_000],
  ['at most 10 minutes', { 'retry-after': '86400' }, 600_000],
  ['nothing for a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 08:00:00 GMT' }, null],
  ['nothing for 0', { 'retry-after': '0' }, null],
  ['nothing for what is neither', { 'retry-after': 'soon', 'retry-after-ms': '-5' }, null],
  ['nothing where nothing is said', {}, null],
])('reads %s', (_, headers, expected) => {
  expect(retryDelayIn({ headers: new Headers(headers), body: '' })).toBe(expected);
});

test("reads Gemini's RetryInfo", () => {
  const bodyWith = (retryDelay: string) =>
    JSON.stringify({ error: { details: [{ '@type': 'google.rpc.RetryInfo', retryDelay }] } }, null, 2);
  const headers = new Headers();
  expect(retryDelayIn({ headers, body: bodyWith('34.074s') })).toBe(34_074);
  expect(retryDelayIn({ headers, body: bodyWith('a while') })).toBeNull();
});
