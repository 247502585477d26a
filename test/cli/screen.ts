/** Lines so far, and the place of the next character. */
interface Screen {
  readonly lines: string[];
  row: number;
  column: number;
}

type Move = (screen: Screen, count: number) => void;

/** Control characters and sequences with which a live view redraws itself; others, e.g. colours, change nothing. */
const MOVES: Readonly<Record<string, Move>> = {
  '\r': (screen) => (screen.column = 0),
  '\n': (screen) => (screen.row += 1),
  A: (screen, count) => (screen.row = Math.max(0, screen.row - count)),
  G: (screen, count) => (screen.column = count - 1),
  J: (screen) => (screen.lines.length = screen.row),
  K: (screen) => (screen.lines[screen.row] = ''),
};

/** Returns the lines on a terminal after a program wrote this. */
export function screenAfter(written: string): string[] {
  const screen: Screen = { lines: [], row: 0, column: 0 };
  // eslint-disable-next-line no-control-regex -- these are control sequences
  for (const [part, count, name] of written.matchAll(/\x1b\[\??(\d*)(?:;\d+)*([A-Za-z])|[^\x1b]/gu)) {
    const move = MOVES[name ?? part.replace(/[A-Z]/, '')];
    if (move !== undefined) move(screen, Number(count ?? 1) || 1);
    else if (name === undefined) write(screen, part);
  }
  return Array.from(screen.lines, (line?: string) => line ?? '');
}

function write(screen: Screen, part: string): void {
  const { lines, row, column } = screen;
  const line = (lines[row] ?? '').padEnd(column);
  lines[row] = line.slice(0, column) + part + line.slice(column + part.length);
  screen.column += part.length;
}
