// `npm start -- "QUESTION"`: the command `solve`, with a sample question for those who just want to see it run.
import { createRequire } from 'node:module';

const SAMPLE = 'What is the capital of France?';

const given = process.argv.slice(2);
const needsSample = !hasQuestion();
if (needsSample) {
  console.error(`No question given, so here is a sample: ${SAMPLE}\nAsk your own: npm start -- "QUESTION"`);
}

// In this very process, so that signals and the exit code are the command's own.
const command = new URL('../lib/cli/main.js', import.meta.url);
process.argv.splice(2, Infinity, 'solve', ...given, ...(needsSample ? [SAMPLE] : []));
await import(command.href);

/** The command itself knows which of its options take a value, which is then no question. What it refuses, it explains. */
function hasQuestion() {
  const { buildProgram } = createRequire(import.meta.url)('../lib/cli/program.js');
  const solve = buildProgram('', () => {}).commands.find((each) => each.name() === 'solve');
  solve.configureOutput({ writeErr: () => {} });
  try {
    const { operands, unknown } = solve.parseOptions(given);
    return operands.length > 0 || unknown.some((word) => word === '--help' || word === '-h' || word === '-');
  } catch {
    return true;
  }
}
