// `npm start -- "QUESTION"`: runs `solve`; without a question runs `up`, which serves clients until it is stopped.
import { createRequire } from 'node:module';

const given = process.argv.slice(2);
// Runs in this process, so that signals and the exit code are the command's own.
const command = new URL('../lib/cli/main.js', import.meta.url);
process.argv.splice(2, Infinity, hasQuestion() ? 'solve' : 'up', ...given);
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
