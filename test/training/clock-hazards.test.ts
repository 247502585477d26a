import { assert, constantFrom, integer, property } from 'fast-check';
import {
  type Cron,
  findClockChanges,
  findHazards,
  isDue,
  parseCron,
  wallTimesOf,
} from '../../src/training/clock-hazards';
import { isNightDate, isTimeZone, nightDate } from '../../src/training/night-ids';

const [FROM, UNTIL] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2028-01-01T00:00:00Z')];

function read(expression: string): Cron {
  const cron = parseCron(expression);
  if (cron === null) throw new Error(`${expression} is no cron expression`);
  return cron;
}

test('a zone changes its clocks when its law says so, in both directions', () => {
  const changes = findClockChanges('Europe/Berlin', FROM, UNTIL).map(({ at, before, after }) => [
    new Date(at).toISOString(),
    (after - before) / 60_000,
  ]);
  expect(changes).toEqual([
    ['2026-03-29T01:00:00.000Z', 60],
    ['2026-10-25T01:00:00.000Z', -60],
    ['2027-03-28T01:00:00.000Z', 60],
    ['2027-10-31T01:00:00.000Z', -60],
  ]);
  expect(findClockChanges('Asia/Tokyo', FROM, UNTIL)).toEqual([]);
});

test('half an hour is a clock change, too', () => {
  const [first] = findClockChanges('Australia/Lord_Howe', FROM, UNTIL);
  expect(first && wallTimesOf(first)).toEqual({
    kind: 'repeated',
    from: Date.parse('2026-04-05T01:30:00Z'),
    until: Date.parse('2026-04-05T02:00:00Z'),
  });
});

test.each([
  ['30 2 * * *', 'Europe/Berlin', ['skipped 2026-03-29 02:30', 'repeated 2026-10-25 02:30']],
  ['30 1 * * *', 'America/New_York', ['repeated 2026-11-01 01:30']],
  ['30 2 * * *', 'America/New_York', ['skipped 2026-03-08 02:30']],
  ['30 3 * * *', 'Europe/Berlin', []],
  // Clocks are changed on Sundays.
  ['30 2 * * mon-fri', 'Europe/Berlin', []],
  ['30 2 25 10 *', 'Europe/Berlin', ['repeated 2026-10-25 02:30']],
  ['0,45 2 * * 7', 'America/New_York', ['skipped 2026-03-08 02:00', 'skipped 2026-03-08 02:45']],
  ['30 2 * * *', 'UTC', []],
])('%s in %s meets %j', (expression, timeZone, expected) => {
  const hazards = findHazards(read(expression), timeZone, FROM, Date.parse('2027-01-01T00:00:00Z'));
  expect(hazards.map(({ kind, date, time }) => `${kind} ${date} ${time}`)).toEqual(expected);
});

test('whatever the clocks do, all moments at which they show the same date are one night', () => {
  const zones = constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Beirut', 'America/Havana', 'UTC');
  assert(
    property(zones, integer({ min: FROM, max: UNTIL }), (timeZone, moment) => {
      const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(moment);
      expect(nightDate(new Date(moment), timeZone)).toBe(shown);
    }),
  );
});

test.each([
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '5-1 * * * *',
  '*/0 * * * *',
  'x * * * *',
  '1- * * * *',
  '@daily',
  '',
])('%j is no cron expression of five fields', (expression) => {
  expect(parseCron(expression)).toBeNull();
});

test('steps, ranges, lists and names mean what cron means by them', () => {
  const { minutes, hours, months, weekdays } = read('*/20 8-18/5,22 * jan,dec fri-7');
  expect([...minutes]).toEqual([0, 20, 40]);
  expect([...hours]).toEqual([8, 13, 18, 22]);
  expect([...months]).toEqual([1, 12]);
  expect([...weekdays].sort()).toEqual([0, 5, 6]);
  expect(isDue(read('50/5 * * * *'), Date.parse('2026-11-21T03:55:00Z'))).toBe(true);
});

test('a night is named by a day of the calendar, in a zone that there is', () => {
  expect(['2026-11-21', '2028-02-29'].filter(isNightDate)).toHaveLength(2);
  expect(['2026-02-29', '2026-13-01', '26-11-21', '2026-11-21T00:00', ''].filter(isNightDate)).toEqual([]);
  expect(['Europe/Berlin', 'UTC', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false]);
});
