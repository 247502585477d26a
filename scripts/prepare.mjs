// Runs before `npm start` and `npm test`: installs and builds what is missing or out of date. Uses only Node's own
// modules, since it runs before an install. Messages go to stderr, since stdout belongs to the command.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const STAMPS = 'node_modules/.cache/temporal-conductor';
const BUILT = ['lib/cli/main.js', 'lib/workflow-bundle.js', 'lib/conductor.schema.json'];

requireNode(20, 19);
if (!isInstalled()) {
  // Skips install scripts: every native part comes as a prebuilt package.
  const install = ['ci', '--include=dev', '--ignore-scripts', '--loglevel=error'];
  run('Installing packages, this takes a minute …', install);
}

const settings = ['package.json', 'package-lock.json', 'tsconfig.json'];
const program = {
  stamp: 'built-from',
  built: BUILT,
  sources: fingerprint([
    ...settings,
    'tsconfig.build.json',
    'scripts/bundle-workflows.mjs',
    'scripts/write-schema.mjs',
    ...filesUnder('src'),
  ]),
};
// A change in src/ rebuilds everything, so the page's own fingerprint can leave src/ out.
const page = {
  stamp: 'page-built-from',
  built: ['lib/web/index.html'],
  sources: fingerprint([...settings, 'scripts/build-web.mjs', ...filesUnder('web')]),
};

if (!isBuilt(program)) {
  run('Building …', ['run', '--silent', 'build']);
  stamp(program);
  stamp(page);
} else if (!isBuilt(page)) {
  run('Building the page …', ['run', '--silent', 'build:web']);
  stamp(page);
}

function requireNode(major, minor) {
  const [hasMajor, hasMinor] = process.versions.node.split('.').map(Number);
  if (hasMajor > major || (hasMajor === major && hasMinor >= minor)) return;
  fail(`temporal-conductor needs Node ${major}.${minor} or newer; this is ${process.versions.node}.`);
}

/** Compares the lock file with npm's record of node_modules, which npm writes at the end of an install. */
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json');
  const wanted = readPackages('package-lock.json');
  // An optional package may be absent, since it may be for another platform.
  return Object.entries(wanted).every(([path, { version, optional }]) =>
    installed[path] ? installed[path].version === version : path === '' || optional,
  );
}

function readPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {};
}

function isBuilt({ stamp, built, sources }) {
  const file = join(STAMPS, stamp);
  return (
    built.every((each) => existsSync(each)) && existsSync(file) && readFileSync(file, 'utf8') === sources
  );
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
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesUnder(path) : [path];
    });
}

function run(why, npmArguments) {
  console.error(why);
  const stdio = ['inherit', process.stderr, 'inherit'];
  const { status, error } = spawnSync('npm', npmArguments, { stdio, shell: process.platform === 'win32' });
  if (error) fail(`npm could not be run: ${error.message}`);
  if (status !== 0) fail(`"npm ${npmArguments.join(' ')}" failed; see its output above.`);
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
