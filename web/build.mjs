// A step of `npm run build`: builds the page into lib/web with a gzipped copy of each file, and enforces its size limits.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const FOLDER = 'lib/web';
const MOST_BYTES = 450 * 1024;
const MOST_BYTES_OF_THE_LIST = 150 * 1024;

await build({ configFile: 'web/vite.config.mjs' });

const sizes = new Map(filesOf(FOLDER).map((file) => [file, compress(file)]));
hold('the page', [...sizes.keys()], MOST_BYTES);
hold('what the list of solves loads', loadedBy(join(FOLDER, 'index.html')), MOST_BYTES_OF_THE_LIST);

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map(({ parentPath, name }) => join(parentPath, name));
}

function compress(file) {
  const gzipped = gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION });
  writeFileSync(`${file}.gz`, gzipped);
  return gzipped.length;
}

/** Returns a document, all files that it names, and their static imports; dynamic imports do not count. */
function loadedBy(document) {
  const loaded = new Set();
  const waiting = [document];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file) || !sizes.has(file)) continue;
    loaded.add(file);
    const text = readFileSync(file, 'utf8');
    const named = extname(file) === '.html' ? text.matchAll(/(?:src|href)="\/([^"]+)"/g) : importsOf(text);
    for (const [, name] of named)
      waiting.push(extname(file) === '.html' ? join(FOLDER, name) : join(dirname(file), name));
  }
  return [...loaded];
}

function importsOf(script) {
  return script.matchAll(/(?:from|import)\s*"(\.\/[^"]+)"/g);
}

function hold(what, files, most) {
  const bytes = files.reduce((sum, file) => sum + sizes.get(file), 0);
  console.error(`${what}: ${Math.round(bytes / 1024)} KB gzipped (at most ${most / 1024})`);
  if (bytes <= most) return;
  console.error(`${what} is too large: ${files.join(', ')}`);
  process.exitCode = 1;
}
