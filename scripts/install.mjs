// Installs the packages of a folder. Uses only Node's own modules, since it runs before an install. Messages go to stderr,
// since stdout belongs to the command.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Skips install scripts: every native part comes as a prebuilt package.
const INSTALL = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
// Spares a question to the registry for each package, and fails if the cache is older than the lock.
const FROM_CACHE = [...INSTALL, '--prefer-offline', '--loglevel=silent'];
const FROM_REGISTRY = [...INSTALL, '--loglevel=error'];

/** Installs what the lock of a folder of this repository names, unless it is there. */
export function installPackages(folder) {
  const cwd = fileURLToPath(new URL(`../${folder}`, import.meta.url));
  const wanted = Object.entries(packagesIn(`${cwd}/package-lock.json`)).filter(([path]) => path !== '');
  // npm writes this record at the end of an install.
  const installed = packagesIn(`${cwd}/node_modules/.package-lock.json`);
  // An optional package may be absent, since it may be for another platform.
  const isThere = ([path, { version, optional }]) =>
    installed[path] ? installed[path].version === version : optional;
  if (wanted.every(isThere)) return;

  console.error(`Installing packages ${folder === '.' ? '' : `for ${folder}/ `}…`);
  if (runNpm(FROM_CACHE, cwd) === 0 || runNpm(FROM_REGISTRY, cwd) === 0) return;
  fail(`"npm ${FROM_REGISTRY.join(' ')}" failed in ${cwd}; see its output above.`);
}

function runNpm(words, cwd) {
  const stdio = ['inherit', process.stderr, 'inherit'];
  const { status, error } = spawnSync('npm', words, { cwd, stdio, shell: process.platform === 'win32' });
  if (error) fail(`npm could not be run: ${error.message}`);
  return status;
}

function packagesIn(lock) {
  return existsSync(lock) ? JSON.parse(readFileSync(lock, 'utf8')).packages : {};
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
