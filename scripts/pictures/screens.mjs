// What a live view drew on a terminal, as a picture: once while a call waits for another attempt, and at its end.
const [WIDTH, HEIGHT, PAD, BAR] = [8.43, 19, 14, 34];
const COLOURS = { 1: 'b', 2: 'f', 31: 'r', 32: 'g', 33: 'y' };
const STYLE = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#282a2e;white-space:pre}
.b{font-weight:bold}.f{fill:#6b6d70}.r{fill:#b3261e}.g{fill:#22783c}.y{fill:#8a5c00}`;

const ESC = '\u001b';
/** Erases a line, goes up one, hides the cursor, shows it. */
const UNSEEN = [`${ESC}[2K`, `${ESC}[1A`, `${ESC}[?25l`, `${ESC}[?25h`];
const without = (text, ...parts) => parts.reduce((rest, part) => rest.replaceAll(part, ''), text);
/** A change of style, a run of words, or blanks. */
const PART = new RegExp(`${ESC}\\[(\\d+)m|[^${ESC}\\s]+(?: [^${ESC}\\s]+)*|\\s+`, 'g');

/** @param {string} written by the command, with its control sequences */
export function drawScreens(written, command, columns) {
  // Each frame begins where the one before it is erased.
  const frames = written.split(`${ESC}[G`).map((frame) => without(frame, '\r', ...UNSEEN));
  const waiting = frames.findLast((frame) => frame.includes('↻'));
  if (waiting === undefined) throw new Error('No call waited for another attempt.');
  const lines = [`\x1b[1m$ ${command}\x1b[22m`, ...linesOf(waiting), '', ...linesOf(frames.at(-1))];
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

const linesOf = (frame) =>
  frame
    .trimEnd()
    .split('\n')
    .filter((line, index) => line !== '' || index > 0);

/** A text for each run of one colour, at its own place: glyphs of other fonts must not move what follows. */
function drawLine(line, y) {
  let [style, column] = ['', 0];
  const texts = [];
  for (const [part, code] of line.matchAll(PART)) {
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
