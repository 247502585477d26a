/** A line with the lines that belong to it: `notes` as plain text below it, `branches` with lines drawn to them. */
export interface Branch {
  readonly line: string;
  readonly notes?: readonly string[];
  readonly branches?: readonly Branch[];
}

/** Draws a tree with box characters, one string a line. */
export function drawTree({ line, notes = [], branches = [] }: Branch): string[] {
  const trunk = branches.length === 0 ? '   ' : '│  ';
  return [
    line,
    ...notes.map((note) => trunk + note),
    ...branches.flatMap((branch, index) => {
      const isLast = index === branches.length - 1;
      const [first = '', ...rest] = drawTree(branch);
      return [(isLast ? '└─ ' : '├─ ') + first, ...rest.map((below) => (isLast ? '   ' : '│  ') + below)];
    }),
  ];
}
