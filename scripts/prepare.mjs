// Runs before `npm start` and `npm test`: installs and builds what is missing or out of date, else does nothing.
// Plain Node, since it runs before anything is installed; it speaks on stderr, since stdout belongs to the command.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const STAMP = 'node_modules/.cache/temporal-conductor/built-from';
const BUILT = [
  'lib/cli/main.js',
  'lib/workflow-bundle.js',
  'lib/training-bundle.js',
  'lib/encrypted-workflow-bundle.js',
  'lib/encrypted-training-bundle.js',
  'lib/conductor.schema.json',
];

requireNode(20, 19);
if (!isInstalled()) {
  // No package's script is run: every native part comes as a prebuilt package.
  const install = ['ci', '--include=dev', '--ignore-scripts', '--loglevel=error'];
  run('Installing packages, this takes a minute …', install);
}

const sources = fingerprint();
if (!isBuilt(sources)) {
  run('Building …', ['run', '--silent', 'build']);
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, sources);
}

function requireNode(major, minor) {
  const [hasMajor, hasMinor] = process.versions.node.split('.').map(Number);
  if (hasMajor > major || (hasMajor === major && hasMinor >= minor)) return;
  fail(`temporal-conductor needs Node ${major}.${minor} or newer; this is ${process.versions.node}.`);
}

/** npm writes its own record of what lies in node_modules at the end of an install: compare it with the lock file. */
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json');
  const wanted = readPackages('package-lock.json');
  // An optional package may be absent: it is for another platform.
  return Object.entries(wanted).every(([path, { version, optional }]) =>
    installed[path] ? installed[path].version === version : path === '' || optional,
  );
}

function readPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {};
}

function isBuilt(sources) {
  return (
    BUILT.every((file) => existsSync(file)) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sources
  );
}

/** A hash over all that the build reads. */
function fingerprint() {
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  const steps = ['scripts/bundle-workflows.mjs', 'scripts/write-schema.mjs'];
  const files = [...settings, ...steps, ...filesUnder('src')];
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
  if (status !== 0) fail(`"npm ${npmArguments.join(' ')}" failed; its own words are above.`);
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
