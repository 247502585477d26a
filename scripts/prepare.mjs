// Runs before `npm start` and `npm test`: installs and builds what is missing or out of date; the page only if it is named
// (`node scripts/prepare.mjs page`). Uses only Node's own modules, since it runs before an install.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from './install.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const STAMPS = 'node_modules/.cache/temporal-conductor';

requireNode(20, 19);
const begun = Date.now();
installPackages('.');

const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts/build.mjs'];
const program = {
  name: 'program',
  stamp: 'built-from',
  built: ['lib/cli/main.js', 'lib/workflow-bundle.js', 'lib/conductor.schema.json'],
  sources: fingerprint([
    ...settings,
    'tsconfig.build.json',
    'scripts/bundle-workflows.mjs',
    'scripts/write-schema.mjs',
    ...filesUnder('src'),
  ]),
};
// A build of the program removes the page, which is then built again: its own fingerprint can leave src/ out.
const page = {
  name: 'page',
  stamp: 'page-built-from',
  built: ['lib/web/index.html'],
  sources: fingerprint([...settings, ...filesUnder('web')]),
};

const needed = process.argv[2] === 'page' ? [program, page] : [program];
const first = needed.findIndex((part) => !isBuilt(part));
if (first !== -1) {
  const missing = needed.slice(first);
  build(missing);
  missing.forEach(stamp);
  console.error(`Ready after ${Math.round((Date.now() - begun) / 1000)} s.`);
}

function requireNode(major, minor) {
  const [hasMajor, hasMinor] = process.versions.node.split('.').map(Number);
  if (hasMajor > major || (hasMajor === major && hasMinor >= minor)) return;
  console.error(
    `temporal-conductor needs Node ${major}.${minor} or newer; this is ${process.versions.node}.`,
  );
  process.exit(1);
}

function isBuilt({ stamp, built, sources }) {
  const file = join(STAMPS, stamp);
  return (
    built.every((each) => existsSync(each)) && existsSync(file) && readFileSync(file, 'utf8') === sources
  );
}

function build(parts) {
  const args = ['scripts/build.mjs', ...parts.map(({ name }) => name)];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  console.error('The build failed; see its output above.');
  process.exit(1);
}

function stamp({ stamp: name, sources }) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(join(STAMPS, name), sources);
}

/** Returns a hash of all files that a build reads. */
function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesUnder(path) : [path];
    });
}
