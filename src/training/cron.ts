import type { WallTime } from './clock-changes';

/** What each of the five fields of a cron expression allows. */
export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  /** From 1. */
  readonly months: ReadonlySet<number>;
  /** From 0, Sunday. */
  readonly weekdays: ReadonlySet<number>;
}

interface Field {
  readonly least: number;
  readonly most: number;
  /** Names of its values, from `least` on. */
  readonly names: readonly string[];
}

const FIELDS: readonly Field[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [] },
  { least: 1, most: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  // Sunday is 0 and 7.
  { least: 0, most: 7, names: 'sun mon tue wed thu fri sat'.split(' ') },
];

/**
 * Reads a cron expression of five fields: minute, hour, day of month, month, day of week. Each is a star, a value or a
 * range, the star and the range with a step or without (`8-18/2`), or several of these separated by commas.
 *
 * @returns null for anything else, more fields included
 */
export function parseCron(expression: string): Cron | null {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) return null;
  const fields = FIELDS.map((field, place) => readField(texts[place] ?? '', field));
  const [minutes, hours, days, months, weekdays] = fields;
  if (!minutes || !hours || !days || !months || !weekdays) return null;
  return { minutes, hours, days, months, weekdays: new Set([...weekdays].map((day) => day % 7)) };
}

/** Whether a schedule of this expression is due when clocks show this. All fields must fit, as Temporal has it. */
export function isDue({ minutes, hours, days, months, weekdays }: Cron, wall: WallTime): boolean {
  const shown = new Date(wall);
  return (
    minutes.has(shown.getUTCMinutes()) &&
    hours.has(shown.getUTCHours()) &&
    days.has(shown.getUTCDate()) &&
    months.has(shown.getUTCMonth() + 1) &&
    weekdays.has(shown.getUTCDay())
  );
}

function readField(text: string, field: Field): Set<number> | null {
  const ranges = text.split(',').map((part) => readRange(part, field));
  const values = new Set<number>();
  for (const range of ranges) {
    if (range === null) return null;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
  }
  return values;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

const RANGE = /^(?<values>\*|\w+(?:-\w+)?)(?:\/(?<every>\d{1,2}))?$/;

function readRange(text: string, field: Field): Range | null {
  const { values = '', every } = RANGE.exec(text)?.groups ?? {};
  const bounds = readBounds(values, every !== undefined, field);
  const step = Number(every ?? 1);
  return bounds === null || bounds.from > bounds.to || step < 1 ? null : { ...bounds, step };
}

/** @param isOpen a single value is a beginning without an end, since a step follows it */
function readBounds(values: string, isOpen: boolean, field: Field): Omit<Range, 'step'> | null {
  if (values === '*') return { from: field.least, to: field.most };
  const [first = '', last] = values.split('-');
  const from = readValue(first, field);
  const end = isOpen ? field.most : from;
  const to = last === undefined ? end : readValue(last, field);
  return from === null || to === null ? null : { from, to };
}

function readValue(text: string, { least, most, names }: Field): number | null {
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + least : /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : null;
}
