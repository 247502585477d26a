// `npm run build`: builds parts into lib, the program and the page, and says how far it is. Messages go to stderr, since
// stdout belongs to the command that needs the build.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installPackages } from './install.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Steps of each part: what it builds, and the script that does. */
const PARTS = {
  program: [
    ['JavaScript and types', 'node_modules/@typescript/native/bin/tsc', '--project', 'tsconfig.build.json'],
    ['workflow bundle', 'scripts/bundle-workflows.mjs'],
    ['schema of conductor.yaml', 'scripts/write-schema.mjs'],
  ],
  page: [['page', 'web/build.mjs']],
};

const asked = process.argv.slice(2);
if (asked.includes('page')) installPackages('web');
// What a deleted source left behind would be published.
if (asked.includes('program')) rmSync('lib', { recursive: true, force: true });
const steps = asked.flatMap((part) => PARTS[part]);
for (const [index, [what, script, ...args]] of steps.entries()) {
  console.error(`Building ${index + 1} of ${steps.length}: ${what} …`);
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
