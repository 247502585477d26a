import stringWidth from 'string-width';
import { joinFacts, type StepState } from './describe';

/** Lines and trees of text for a terminal. Workflow code must not import this file: its library is for Node. */

/** Text that wraps itself to a number of columns, one string per line. */
export type Line = (columns: number) => readonly string[];

/** Returns free text as one line, clipped if it is too long. Ids, figures and sentences are wrapped instead. */
export function plainLine(text: string): Line {
  return (room) => [oneLine(text, room)];
}

export function wrapped(text: string): Line {
  return (room) => wrap([text], room);
}

/** Returns a name with facts beside it, or below if there is no room. */
export function headLine(paint: Paint, name: string, facts: readonly string[]): Line {
  return (room) => {
    const rest = joinFacts(...facts);
    const names = wrap([name], room).map(paint.strong);
    if (rest === '') return names;
    const isOneLine = widthOf(name) + 2 + widthOf(rest) <= room;
    if (isOneLine) return [`${names[0] ?? ''}  ${paint.faint(rest)}`];
    return [...names, ...wrapFacts(facts, room).map(paint.faint)];
  };
}

/** Joins facts with dots, in several lines if they do not fit one. */
export function wrapFacts(facts: readonly (string | false | null | undefined)[], columns: number): string[] {
  return wrap(facts.filter((fact) => typeof fact === 'string' && fact !== '') as string[], columns, ' · ');
}

// White space, control characters (a model's text must not steer a terminal) and overrides of the writing direction.
const UNSEEN = /[\s\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Most characters of a line. */
const MOST_CHARACTERS = 1000;

/** Returns a text as one harmless line of at most `columns` columns, ending with `…` if it was clipped. */
export function oneLine(text: string, columns: number): string {
  const start = text.slice(0, 2 * MOST_CHARACTERS).replace(UNSEEN, ' ');
  const line = start.trim().slice(0, MOST_CHARACTERS);
  if (startThatFits(line, columns) === line) return line;
  return columns < 1 ? '' : `${startThatFits(line, columns - 1).trimEnd()}…`;
}

/** Returns as many whole characters of a text, from its start, as there is room for. */
function startThatFits(text: string, columns: number): string {
  let width = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    width += widthOf(segment);
    if (width > columns) return text.slice(0, index);
  }
  return text;
}

/** Most characters of a wrapped text; our sentences and ids are shorter. */
const MOST_WRAPPED = 2000;

/** Wraps whole texts into harmless lines: a line ends between two texts, else between words, else within one. */
export function wrap(texts: readonly string[], columns: number, glue = ' '): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const whole = text.slice(0, MOST_WRAPPED).replace(UNSEEN, ' ').trim();
    const joined = lines.length === 0 ? whole : `${lines.at(-1) ?? ''}${glue}${whole}`;
    if (widthOf(joined) <= columns) lines.splice(-1, 1, joined);
    else lines.push(...(widthOf(whole) <= columns ? [whole] : broken(whole, columns)));
  }
  return lines;
}

function broken(text: string, columns: number): string[] {
  const words = text.split(' ');
  if (words.length > 1) return wrap(words, columns);
  // No character is wider than two columns.
  const start = startThatFits(text, Math.max(2, columns));
  return start === text ? [text] : [start, ...broken(text.slice(start.length), columns)];
}

/** Returns a text beside a label of `width` columns; a text that is too long continues below. */
export function beside(label: string, width: number, text: string, columns: number): string[] {
  const lines = wrap([text], Math.max(NARROWEST, columns - width));
  return lines.map((line, index) => (index === 0 ? label : '').padEnd(width) + line);
}

export function widthOf(line: string): number {
  // Nearly every line is printable ASCII, which the library takes a hundred times as long to measure.
  return /^[ -~]*$/.test(line) ? line.length : stringWidth(line);
}

/** A line with the lines that belong to it: `notes` as plain text below it, `branches` with lines drawn to them. */
export interface Branch {
  readonly line: Line;
  readonly notes?: readonly Line[];
  readonly branches?: readonly Branch[];
}

const INDENT = 3;

/** Least room for a branch, so that it can be read however deep it is. */
const NARROWEST = 20;

/** Draws a tree with box characters, one string per line, none wider than `columns` unless the tree is too deep. */
export function drawTree({ line, notes = [], branches = [] }: Branch, columns: number): string[] {
  const trunk = branches.length === 0 ? '   ' : '│  ';
  const room = Math.max(NARROWEST, columns - INDENT);
  const inOneLine = line(columns);
  const [head = '', ...more] = inOneLine.length === 1 ? inOneLine : line(room);
  return [
    head,
    ...[...more, ...notes.flatMap((note) => note(room))].map((below) => trunk + below),
    ...branches.flatMap((branch, index) => {
      const isLast = index === branches.length - 1;
      const [first = '', ...rest] = drawTree(branch, room);
      return [(isLast ? '└─ ' : '├─ ') + first, ...rest.map((below) => (isLast ? '   ' : '│  ') + below)];
    }),
  ];
}

type Stroke = (text: string) => string;

/** Styles by meaning; the terminal maps them to colours. */
export interface Paint {
  readonly strong: Stroke;
  readonly faint: Stroke;
  readonly good: Stroke;
  readonly bad: Stroke;
  readonly busy: Stroke;
}

export function strokeOf(state: StepState, { good, bad, busy, faint }: Paint): Stroke {
  return { done: good, failed: bad, running: busy, waiting: faint }[state];
}

const asItIs: Stroke = (text) => text;

export const PLAIN: Paint = { strong: asItIs, faint: asItIs, good: asItIs, bad: asItIs, busy: asItIs };

/** Formats a number with its sign, to three decimal places. */
export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}
