import { ALL, filterOf, queryOf, readChosen, soughtOf } from '../../web/src/solves/chosen';

test('an address keeps what is chosen, and what is no choice there is left out', () => {
  const chosen = { state: 'failed', words: 'spider legs', from: '2026-11-01', to: '2026-11-30' } as const;
  expect(readChosen(queryOf(chosen))).toEqual(chosen);
  expect(queryOf(ALL)).toBe('');
  expect(readChosen('?state=asks&from=yesterday&to=2026-11')).toEqual(ALL);
});

test('the last day is within, in the time zone of the reader', () => {
  const { startedFrom, startedBefore } = filterOf({ ...ALL, from: '2026-11-30', to: '2026-11-30' });
  expect(startedFrom).toBe(new Date(2026, 10, 30).toISOString());
  expect(startedBefore).toBe(new Date(2026, 11, 1).toISOString());
});

test('the gateway looks for no more than it allows, and not for solves that the list has whole', () => {
  expect(soughtOf({ ...ALL, state: 'waiting', words: 'spider' })).toBe('');
  expect(soughtOf({ ...ALL, words: '  ' })).toBe('');
  expect(soughtOf({ ...ALL, state: 'completed', words: ' spider ' })).toBe('state=completed&words=spider');
  expect(soughtOf({ ...ALL, words: 'x'.repeat(1000) })).toBe(`words=${'x'.repeat(200)}`);
});
