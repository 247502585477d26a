import type { Line } from './line';

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
