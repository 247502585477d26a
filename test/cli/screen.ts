/** What a terminal shows after a program wrote this: line ends, and the sequences by which log-update erases its lines. */
export function screenAfter(written: string): string[] {
  const lines = [''];
  let [row, column] = [0, 0];
  // eslint-disable-next-line no-control-regex -- these are control sequences
  for (const [part, count, name] of written.matchAll(/\x1b\[\??(\d*)(?:;\d+)*([A-Za-z])|[^\x1b]/gu)) {
    if (name === 'A') row = Math.max(0, row - Number(count || 1));
    else if (name === 'G') column = Number(count || 1) - 1;
    else if (name === 'K') lines[row] = count === '2' ? '' : (lines[row] ?? '').slice(0, column);
    else if (name === 'J') lines.length = row + 1;
    else if (name !== undefined) continue;
    else if (part === '\r') column = 0;
    else if (part === '\n') row += 1;
    else {
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    }
    while (lines.length <= row) lines.push('');
  }
  return lines;
}
