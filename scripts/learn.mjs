// `npm run learn -- NAME [OPTION …]`: runs a program of research, after making its Python environment if needed.
import './prepare.mjs';
import { execFileSync } from 'node:child_process';
import Module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const PROGRAMS = {
  demo: 'demo/main.ts',
  plain: 'plain/main.ts',
  pools: 'plain/pools.ts',
  recursion: 'plain/recursion.ts',
  smollm2: 'smollm2/main.ts',
  specialists: 'specialists/main.ts',
  night: 'night/main.ts',
  kills: 'kills/main.ts',
  bench: 'bench/main.ts',
  baselines: 'world/baselines.ts',
};

const [name, ...options] = process.argv.slice(2);
if (!Object.hasOwn(PROGRAMS, name ?? '')) {
  const found = name === undefined ? 'No program given' : `Unknown program "${name}"`;
  console.error(`${found}: npm run learn -- ${Object.keys(PROGRAMS).join('|')} [OPTION …]`);
  process.exit(2);
}

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));
if (name !== 'baselines')
  execFileSync(process.execPath, [pathOf('prepare-trainer.mjs')], { stdio: ['ignore', 2, 2] });

// Runs in this process, so that signals and the exit code are the program's own.
createRequire(import.meta.url)('./run-typescript.cjs');
process.argv.splice(1, Infinity, pathOf(`../research/${PROGRAMS[name]}`), ...options);
Module.runMain();
