// Makes Python environments of locked packages in the user's cache, each once per set of locks.
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../lib/local/downloads.js';

const IS_NEW_ENOUGH = 'import sys; raise SystemExit(not (3, 11) <= sys.version_info[:2] <= (3, 13))';

/** Returns the path of an environment's Python; `locks` are paths from `trainer/`, and `size` is for a message. */
export function preparePython(name, locks, size) {
  const paths = locks.map((lock) => fileURLToPath(new URL(`../trainer/${lock}`, import.meta.url)));
  const folder = join(cacheFolder(), `${name}-${fingerprint(paths)}`);
  const python = join(folder, 'bin', 'python');
  if (!existsSync(python)) makeEnvironment(folder, paths, size);
  return python;
}

/** Makes an environment beside its place and moves it there when complete, so that an interrupted one is made again. */
function makeEnvironment(folder, locks, size) {
  const base = findPython();
  console.error(`Making a Python environment in ${folder}: ${size} …`);
  const unfinished = `${folder}.${randomUUID()}`;
  try {
    mkdirSync(unfinished, { recursive: true });
    // Isolated: a module in the current folder must not shadow `venv` or `pip`.
    run(base, ['-I', '-m', 'venv', unfinished]);
    const quietly = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-cache-dir'];
    const locked = locks.flatMap((lock) => ['--requirement', lock]);
    // Wheels only: pip would fetch the build dependencies of other packages without hashes.
    const install = ['-I', '-m', 'pip', 'install', '--require-hashes', '--only-binary=:all:'];
    run(join(unfinished, 'bin', 'python'), [...install, ...quietly, ...locked]);
    moveInto(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** If another process made the same environment meanwhile, keeps that one. */
function moveInto(unfinished, folder) {
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

function findPython() {
  const found = ['python3', 'python3.13', 'python3.12', 'python3.11'].find(
    (name) => spawnSync(name, ['-I', '-c', IS_NEW_ENOUGH], { stdio: 'ignore' }).status === 0,
  );
  if (found !== undefined) return found;
  console.error(
    'The trainer needs Python 3.11, 3.12 or 3.13, and none is on the PATH: install one, or set TRAINER_PYTHON to ' +
      'the Python of an environment that has trainer/requirements.lock installed.',
  );
  process.exit(1);
}

/** Returns a digest of the locks only, so that checkouts with equal locks share an environment. */
function fingerprint(locks) {
  const hash = createHash('sha256');
  for (const lock of locks) hash.update(readFileSync(lock));
  return hash.digest('hex').slice(0, 12);
}

function run(program, options) {
  const { status, error } = spawnSync(program, options, { stdio: ['ignore', process.stderr, 'inherit'] });
  if (error) throw error;
  if (status !== 0) throw new Error(`"${program} ${options.join(' ')}" failed; see its output above.`);
}
