// Last step of `npm run package`: writes to dist/ what would be published, which is the npm package and the trainer's
// wheel and sdist. All three have one version, since they share a contract.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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
console.log(weigh(resolve('dist', PRODUCTS[0])));

/** Installs the package with the peers that it needs, as users do, and describes how large that is. */
function weigh(tarball) {
  const folder = mkdtempSync(join(tmpdir(), 'conductor-weight-'));
  try {
    const flags = [
      '--prefer-offline',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-save',
      '--loglevel=error',
    ];
    run('npm', ['install', '--prefix', folder, ...flags, tarball]);
    const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8'));
    const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
    return `npm install with its peers: ${Object.keys(packages).length} packages, ${Math.round(bytes / 1e6)} MB`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

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
