import { assert, constantFrom, integer, property } from 'fast-check';
import { isTimeZone, nightDate } from '../../src/training/names';

const [FROM, UNTIL] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2028-01-01T00:00:00Z')];

test('whatever the clocks do, all moments at which they show the same date are one night', () => {
  const zones = constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Beirut', 'America/Havana', 'UTC');
  assert(
    property(zones, integer({ min: FROM, max: UNTIL }), (timeZone, moment) => {
      const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(moment);
      expect(nightDate(new Date(moment), timeZone)).toBe(shown);
    }),
  );
});

test('a zone is one that there is', () => {
  expect(['Europe/Berlin', 'UTC', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false]);
});
