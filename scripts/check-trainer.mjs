// `npm run trainer:check`: checks style, types and tests of the trainer, the Python examples and the GPU programs,
// with the tools of the locked environment, three at a time, since tests often wait for processes. Prints each tool's
// output when it has ended. `npm run trainer:check -- nightly` runs the tests that a change need not wait for alone.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const PREPARE = fileURLToPath(new URL('prepare-trainer.mjs', import.meta.url));
const stdio = ['ignore', 'pipe', 'inherit'];
const python = execFileSync(process.execPath, [PREPARE], { encoding: 'utf8', stdio }).trim();
const cwd = fileURLToPath(new URL('../trainer', import.meta.url));
const ELSEWHERE = ['../examples/python', '../research/night', '../research/smollm2', '../scripts/gpu'];
const config = ['--config', 'pyproject.toml'];
const ofAChange = [
  ...sharesOf('tests', 4).map((files) => ['pytest', ...files]),
  ['ruff', 'check', ...config, '.', ...ELSEWHERE],
  ['ruff', 'format', '--check', ...config, '.', ...ELSEWHERE],
  // Once for all: most of its time goes to the types of the packages.
  ['pyright', '--pythonpath', python, 'src', 'tests', 'bench', ...ELSEWHERE],
];
const checks = process.argv.includes('nightly') ? [['pytest', '-m', 'nightly']] : ofAChange;
const results = await Promise.all([takeTurns(), takeTurns(), takeTurns()]);
process.exitCode = results.flat().every((status) => status === 0) ? 0 : 1;

async function takeTurns() {
  const statuses = [];
  for (let check = checks.shift(); check !== undefined; check = checks.shift())
    statuses.push(await run(check));
  return statuses;
}

async function run([tool, ...options]) {
  const child = spawn(python, ['-m', tool, ...options], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, complaints, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  process.stdout.write(`${tool} ${options.join(' ')}\n${said}${complaints}`);
  return status;
}

/** Splits the test files into shares of about equal size, since duration roughly follows size. */
function sharesOf(folder, count) {
  const files = readdirSync(`${cwd}/${folder}`)
    .filter((name) => /^test_.*\.py$/.test(name))
    .map((name) => ({ path: `${folder}/${name}`, size: statSync(`${cwd}/${folder}/${name}`).size }))
    .sort((one, other) => other.size - one.size);
  const shares = Array.from({ length: count }, () => ({ size: 0, paths: [] }));
  for (const { path, size } of files) {
    const [smallest] = shares.sort((one, other) => one.size - other.size);
    smallest.paths.push(path);
    smallest.size += size;
  }
  return shares.map(({ paths }) => paths);
}
