// `npm run trainer:check`: style, types and tests of the Python side and of its examples, with the tools of its locked
// environment.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PREPARE = fileURLToPath(new URL('prepare-trainer.mjs', import.meta.url));
const stdio = ['ignore', 'pipe', 'inherit'];
const python = execFileSync(process.execPath, [PREPARE], { encoding: 'utf8', stdio }).trim();
const EXAMPLES = '../examples/python';
const config = ['--config', 'pyproject.toml'];
const checks = [
  ['ruff', 'check', ...config, '.', EXAMPLES],
  ['ruff', 'format', '--check', ...config, '.', EXAMPLES],
  ['pyright', '--pythonpath', python],
  ['pyright', '--pythonpath', python, EXAMPLES],
  ['pytest'],
];
const cwd = fileURLToPath(new URL('../trainer', import.meta.url));
for (const check of checks) {
  const { status } = spawnSync(python, ['-m', ...check], { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
