// Draws what a live view printed on a terminal: once while a call waits for another attempt, and at its end.
const [WIDTH, HEIGHT, PAD, BAR] = [8.43, 19, 14, 34];
const COLOURS = { 1: 'b', 2: 'f', 31: 'r', 32: 'g', 33: 'y' };
const STYLE = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#282a2e;white-space:pre}
.b{font-weight:bold}.f{fill:#6b6d70}.r{fill:#b3261e}.g{fill:#22783c}.y{fill:#8a5c00}`;

/** Stands for the control character, which no text has. */
const ESCAPE = '␛';
/** Erases the frame before: up by its rows, and all from there on. */
const ERASING = new RegExp(`${ESCAPE}\\[\\d+A\r${ESCAPE}\\[J`);

/** @param {string} written by the command, with its control sequences */
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

/** Breaks lines as the terminal does, below the live view too. */
function linesOf(frame, columns) {
  const lines = frame
    .trimEnd()
    .split('\n')
    .filter((line, index) => line !== '' || index > 0);
  return lines.flatMap((line) =>
    line.includes(ESCAPE) ? line : (line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? ''),
  );
}

/** A text for each run of one colour, at its own place: glyphs of other fonts must not move what follows. */
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
