// Draws a terminal's live view as SVG: once while a call waits for its next attempt, and once at the end.
const [WIDTH, HEIGHT, PAD, BAR] = [8.43, 19, 14, 34];
const COLOURS = { 1: 'b', 2: 'f', 31: 'r', 32: 'g', 33: 'y' };
const STYLE = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#282a2e;white-space:pre}
.b{font-weight:bold}.f{fill:#6b6d70}.r{fill:#b3261e}.g{fill:#22783c}.y{fill:#8a5c00}`;

/** Replaces the escape control character; no text contains it. */
const ESCAPE = '␛';
/** Erases the previous frame: moves up by its rows and clears all below. */
const ERASING = new RegExp(`${ESCAPE}\\[\\d+A\r${ESCAPE}\\[J`);

/** @param {string} written output of the command, with its control sequences */
export function drawScreens(written, command, columns) {
  const frames = written
    .replaceAll('\u001B', ESCAPE)
    .split(ERASING)
    .map((frame) => frame.replaceAll('\r', ''));
  const waiting = frames.findLast((frame) => frame.includes('↻') && frame.split('✓').length === 2);
  if (waiting === undefined) throw new Error('No call waited for another attempt.');
  const lines = [
    `${ESCAPE}[1m$ ${command}${ESCAPE}[22m`,
    ...linesOf(waiting, columns),
    '',
    ...linesOf(frames.at(-1), columns),
  ];
  const [width, height] = [columns * WIDTH + 2 * PAD, lines.length * HEIGHT + BAR + PAD];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}">`,
    `<style>${STYLE}</style>`,
    `<rect width="100%" height="100%" rx="8" fill="#f9f9f7" stroke="#d8dadc"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, index) => `<circle cx="${20 + 18 * index}" cy="18" r="6" fill="${fill}"/>`,
    ),
    ...lines.flatMap((line, row) => drawLine(line, BAR + 14 + row * HEIGHT)),
    '</svg>',
    '',
  ].join('\n');
}

/** Wraps plain lines as the terminal does, including those below the live view. */
function linesOf(frame, columns) {
  const lines = frame
    .trimEnd()
    .split('\n')
    .filter((line, index) => line !== '' || index > 0);
  return lines.flatMap((line) =>
    line.includes(ESCAPE) ? line : (line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ''),
  );
}

/** Draws each word as a text at its own position, so that glyphs of fallback fonts do not shift what follows. */
function drawLine(line, y) {
  let [style, column] = ['', 0];
  const texts = [];
  for (const [part, code] of line.matchAll(/␛\[(\d+)m|[^␛\s]+|\s+/g)) {
    if (code !== undefined) style = COLOURS[code] ?? '';
    else {
      const length = [...part].length;
      const x = (PAD + column * WIDTH).toFixed(1);
      const size = length > 1 ? ` textLength="${(length * WIDTH).toFixed(1)}"` : '';
      if (part.trim() !== '')
        texts.push(`<text x="${x}" y="${y}"${size}${style && ` class="${style}"`}>${escape(part)}</text>`);
      column += length;
    }
  }
  return texts;
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
