import { daysBetween, readDay } from '../../src/store/costs';

test('a date is a day between two midnights', () => {
  expect(readDay('2026-02-28', 'utc')).toEqual({
    name: '2026-02-28',
    begins: '2026-02-28T00:00:00.000Z',
    ends: '2026-03-01T00:00:00.000Z',
  });
});

test.each([
  '2026-02-30',
  '2026-13-01',
  '2025-02-29',
  '26-01-01',
  '2026-1-1',
  'today',
  '',
  '2026-11-21T00:00',
])('%p is no date', (name) => {
  expect(readDay(name, 'utc')).toBeNull();
  expect(readDay(name, 'local')).toBeNull();
});

test('days follow each other without a gap, across months and leap days', () => {
  const days = daysBetween('2028-02-28T23:00:00.000Z', '2028-03-01T00:00:00.000Z', 'utc');
  expect(days.map(({ name }) => name)).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
  expect(days.slice(1).map(({ begins }) => begins)).toEqual(days.slice(0, -1).map(({ ends }) => ends));
});

test('one instant is one day, and nothing lies before it', () => {
  const noon = '2026-11-21T12:00:00.000Z';
  expect(daysBetween(noon, noon, 'utc').map(({ name }) => name)).toEqual(['2026-11-21']);
  expect(daysBetween(noon, '2026-11-19T12:00:00.000Z', 'utc')).toEqual([]);
});
