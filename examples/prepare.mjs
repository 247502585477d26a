// Runs before `npm start` of an example inside this repository or package, and installs the surrounding package as it
// is. An example that was copied elsewhere lacks this file, and uses the package from npm.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const installed = 'node_modules/temporal-conductor/package.json';
const stamp = 'node_modules/.built-from';

const build = `${root}scripts/prepare.mjs`;
if (existsSync(build)) run(process.execPath, [build]);
const sources = readIfThere(`${root}node_modules/.cache/temporal-conductor/built-from`);
if (!existsSync(installed) || readIfThere(stamp) !== sources) {
  console.error('Installing the example, this takes a minute …');
  // Copies instead of linking, so that the package and the example load the same copy of Temporal's packages.
  run('npm', ['install', '--install-links', '--no-save', '--no-package-lock', '--loglevel=error', root]);
  writeFileSync(stamp, sources);
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function run(program, args) {
  const stdio = ['ignore', process.stderr, 'inherit'];
  const { status, error } = spawnSync(program, args, { stdio, shell: process.platform === 'win32' });
  if (error) throw error;
  if (status !== 0) process.exit(1);
}
