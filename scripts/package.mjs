// `npm run package`: builds, checks, and writes to dist/ what would be published, which is the npm package and the
// trainer's wheel and sdist, with bills of materials. All have one version, since they share a contract. Says where the
// package lies; what a step has to say is printed if it fails.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBills } from './write-bills.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const PRODUCTS = [
  `${name}-${version}.tgz`,
  `temporal_conductor_trainer-${version}.tar.gz`,
  `temporal_conductor_trainer-${version}-py3-none-any.whl`,
];
const inTools = join('scripts', 'with.mjs');

const asked = process.argv.slice(2);
if (asked.includes('check')) {
  console.error('Building and checking what would be published; this takes a minute or more …');
  run(process.execPath, [join('scripts', 'build.mjs'), 'program', 'page']);
  run(process.execPath, [inTools, 'tools', 'publint', '--strict']);
  run(process.execPath, [inTools, 'tools', 'attw', '--pack', '.', '--profile', 'node16']);
}
rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', 'dist']);
// Imports what was built.
const { preparePython } = await import('./python-environment.mjs');
const python = preparePython('package', ['requirements-build.lock'], 'a few MB');
run(python, ['-m', 'hatchling', 'build', '--directory', join('..', 'dist')], { cwd: 'trainer' });

for (const product of PRODUCTS) {
  if (existsSync(join('dist', product))) continue;
  console.error(
    `dist/${product} was not made: package.json and trainer/pyproject.toml must have one version.`,
  );
  process.exit(1);
}
writeBills('dist');
console.log(
  `dist/${PRODUCTS[0]} is made; the trainer's wheel and sdist, and both bills of materials, lie beside it.`,
);
if (asked.includes('weigh')) console.log(weigh(resolve('dist', PRODUCTS[0])));

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

/** Runs a step; what it says is printed only if it fails. */
function run(program, args, options) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: Infinity,
    shell: process.platform === 'win32',
    ...options,
  });
  if (error) throw error;
  if (status === 0) return;
  process.stderr.write(Buffer.concat([stdout, stderr]));
  console.error(`"${[program, ...args].join(' ')}" failed; see its output above.`);
  process.exit(1);
}
