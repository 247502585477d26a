import { describeSchedule, findOddities } from '../../../src/training/cli/schedule';

const at = (...times: string[]): Date[] => times.map((time) => new Date(`${time}Z`));
const DAILY = '30 1 * * *';

test('a time that the clocks show twice is one night, and that is said', () => {
  const next = at('2026-10-31T05:30', '2026-11-01T05:30', '2026-11-01T06:30', '2026-11-02T06:30');
  expect(findOddities({ next, timeZone: 'America/New_York' }, DAILY)).toEqual([
    'on 2026-11-01 it is due more than once; what is trained then is one night',
  ]);
});

test('a time that the clocks skip is a night left out, and that is said', () => {
  const next = at('2027-03-27T01:30:40', '2027-03-29T00:30:05', '2027-03-30T00:30:20');
  expect(findOddities({ next, timeZone: 'Europe/Berlin' }, '30 2 * * *')).toEqual([
    'on 2027-03-28 the clocks of Europe/Berlin skip the time, and that night is left out',
  ]);
});

test.each([
  ['each day, with the clocks put back', DAILY, at('2026-10-24T23:30', '2026-10-26T00:30')],
  ['on working days', '30 1 * * 1-5', at('2026-11-20T00:30', '2026-11-23T00:30')],
  ['around midnight, moved by jitter', '30 23 * * *', at('2026-11-20T22:35', '2026-11-21T23:10')],
  ['never again', '0 0 1 1 *', []],
])('there is nothing odd about nights %s', (_, cron, next) => {
  expect(findOddities({ next, timeZone: 'Europe/Berlin' }, cron)).toEqual([]);
});

test('the next nights are shown on the clocks of their zone', () => {
  const schedule = { id: 'train-nightly', timeZone: 'Europe/Berlin', isPaused: false, note: null };
  const next = at('2027-03-27T02:30', '2027-03-28T01:30', '2027-03-29T01:30', '2027-03-30T01:30');
  expect(describeSchedule({ ...schedule, next })).toBe(
    'next Sat, 27 Mar 2027, 03:30 · Sun, 28 Mar 2027, 03:30 · Mon, 29 Mar 2027, 03:30 (Europe/Berlin)',
  );
  expect(describeSchedule({ ...schedule, next: [] })).toBe('is never due again');
  expect(describeSchedule({ ...schedule, next, isPaused: true, note: 'it failed' })).toContain(
    'is paused: it failed; go on with',
  );
});
