// `npm start -- "QUESTION"`: runs `solve`; without a question runs `up`, which serves clients until it is stopped.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const given = process.argv.slice(2);
const name = hasQuestion() ? 'solve' : 'up';
if (name === 'up') preparePage();
// Runs in this process, so that signals and the exit code are the command's own.
const command = new URL('../lib/cli/main.js', import.meta.url);
process.argv.splice(2, Infinity, name, ...given);
await import(command.href);

/** Parses with `up`, which knows the options that take a value. What it rejects goes to `solve`, which explains it. */
function hasQuestion() {
  if (given.length === 0) return false;
  const { buildProgram } = createRequire(import.meta.url)('../lib/cli/program.js');
  const up = buildProgram().commands.find((each) => each.name() === 'up');
  up.configureOutput({ writeErr: () => {} });
  try {
    const { operands, unknown } = up.parseOptions(given);
    return operands.length > 0 || unknown.length > 0;
  } catch {
    return true;
  }
}

/** Only `up` serves the page: a question does not wait for its build. */
function preparePage() {
  const script = fileURLToPath(new URL('prepare.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [script, 'page'], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
