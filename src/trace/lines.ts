/** A line as wide as there is room for it. */
export type Line = (columns: number) => string;

/** A text as it is. */
export function plainLine(text: string): Line {
  return (room) => oneLine(text, room);
}

/** A text with a word before it that says what it is; no line where there is no text. */
export function noteLines(paint: Paint, label: string, text: string | undefined): Line[] {
  if (text === undefined || text === '') return [];
  return [(room) => `${paint.faint(label)} ${oneLine(text, room - label.length - 1)}`];
}

/** A name and what there is to know of it; facts that are empty are left out. */
export function headLine(paint: Paint, name: string, facts: readonly string[]): Line {
  const rest = facts.filter((fact) => fact !== '').join(' · ');
  return (room) => {
    const shown = oneLine(name, room);
    return `${paint.strong(shown)}  ${paint.faint(oneLine(rest, room - widthOf(shown) - 2))}`;
  };
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

// White space, control characters (a model's text must not steer a terminal) and overrides of the writing direction.
const UNSEEN = /[\s\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu;

// Unicode Annex 11: these take two columns of a terminal.
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1F000}-\u{1FAFF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;

/** No line shown is longer, however wide the terminal; what is beyond need not be looked at. */
const MOST_CHARACTERS = 1000;

/** A text as one harmless line of at most `columns` columns, ended by `…` where it was clipped. */
export function oneLine(text: string, columns: number): string {
  const line = text
    .slice(0, 2 * MOST_CHARACTERS)
    .replace(UNSEEN, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS);
  let shown = '';
  let width = 0;
  for (const { segment } of graphemes.segment(line)) {
    const next = width + columnsOf(segment);
    if (next > columns) return columns < 1 ? '' : `${clipLast(shown, columns)}…`;
    shown += segment;
    width = next;
  }
  return shown;
}

/** How many columns a line takes in a terminal. */
export function widthOf(line: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(line)) width += columnsOf(segment);
  return width;
}

/** Makes room for the ellipsis. */
function clipLast(shown: string, columns: number): string {
  const segments = [...graphemes.segment(shown)].map(({ segment }) => segment);
  while (segments.length > 0 && widthOf(segments.join('')) > columns - 1) segments.pop();
  return segments.join('').trimEnd();
}

function columnsOf(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
}

/** A line with the lines that belong to it: `notes` as plain text below it, `branches` with lines drawn to them. */
export interface Branch {
  readonly line: Line;
  readonly notes?: readonly Line[];
  readonly branches?: readonly Branch[];
}

const INDENT = 3;

/** Draws a tree with box characters, one string a line, none of them wider than `columns`. */
export function drawTree({ line, notes = [], branches = [] }: Branch, columns: number): string[] {
  const trunk = branches.length === 0 ? '   ' : '│  ';
  const room = columns - INDENT;
  return [
    line(columns),
    ...notes.map((note) => trunk + note(room)),
    ...branches.flatMap((branch, index) => {
      const isLast = index === branches.length - 1;
      const [first = '', ...rest] = drawTree(branch, room);
      return [(isLast ? '└─ ' : '├─ ') + first, ...rest.map((below) => (isLast ? '   ' : '│  ') + below)];
    }),
  ];
}

type Stroke = (text: string) => string;

/** How a renderer sets its words apart; it knows meanings, the terminal knows colours. */
export interface Paint {
  readonly strong: Stroke;
  readonly faint: Stroke;
  readonly good: Stroke;
  readonly bad: Stroke;
  readonly busy: Stroke;
}

const asItIs: Stroke = (text) => text;

/** For files, pipes and people who want no colours. */
export const PLAIN: Paint = { strong: asItIs, faint: asItIs, good: asItIs, bad: asItIs, busy: asItIs };
