// Installs the Node and Python clients that test the gateway, and prints the path of their Python.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { preparePython } from './python-environment.mjs';

const FOLDER = new URL('../test/gateway/clients/', import.meta.url);

if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) {
  const [stdio, shell] = [['ignore', process.stderr, 'inherit'], process.platform === 'win32'];
  const install = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync('npm', install, { cwd: fileURLToPath(FOLDER), stdio, shell });
  if (error) throw error;
  if (status !== 0) throw new Error(`"npm ${install.join(' ')}" failed; see its output above.`);
}
console.log(
  preparePython('clients', ['../test/gateway/clients/requirements.lock'], '200 MB, this takes a minute'),
);

/** Returns when a file was last written, -Infinity if it is missing; npm writes its record at the end of an install. */
function changedAt(path) {
  return statSync(new URL(path, FOLDER), { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
}
