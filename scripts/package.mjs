// The last part of `npm run package`: puts what would be published into dist/, which are the npm package and the
// trainer's wheel and sdist. All three have one version, since both halves hold the same contract.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preparePython } from './python-environment.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const PRODUCTS = [
  `${name}-${version}.tgz`,
  `temporal_conductor_trainer-${version}.tar.gz`,
  `temporal_conductor_trainer-${version}-py3-none-any.whl`,
];

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', 'dist']);
const python = preparePython('package', ['requirements-build.lock'], 'a few MB');
run(python, ['-m', 'hatchling', 'build', '--directory', join('..', 'dist')], { cwd: 'trainer' });

for (const product of PRODUCTS) {
  if (existsSync(join('dist', product))) continue;
  console.error(
    `dist/${product} was not made: package.json and trainer/pyproject.toml must have one version.`,
  );
  process.exit(1);
}
console.log(PRODUCTS.map((product) => `dist/${product}`).join('\n'));

function run(program, args, options) {
  const stdio = ['ignore', process.stderr, 'inherit'];
  const { status, error } = spawnSync(program, args, {
    stdio,
    shell: process.platform === 'win32',
    ...options,
  });
  if (error) throw error;
  if (status !== 0) process.exit(1);
}
