import { assert, constantFrom, integer, property } from 'fast-check';
import { isTimeZone, nightDate } from '../../src/training/names';

const [FROM, UNTIL] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2028-01-01T00:00:00Z')];

test('all moments with the same local date are one night, whatever the clock changes', () => {
  const zones = constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Beirut', 'America/Havana', 'UTC');
  assert(
    property(zones, integer({ min: FROM, max: UNTIL }), (timeZone, moment) => {
      const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(moment);
      expect(nightDate(new Date(moment), timeZone)).toBe(shown);
    }),
  );
});

test('only existing time zones are accepted', () => {
  expect(['Europe/Berlin', 'UTC', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false]);
});
