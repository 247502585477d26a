import { describeSchedule } from '../../../src/training/cli/night';

const at = (...times: string[]): Date[] => times.map((time) => new Date(`${time}Z`));

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
