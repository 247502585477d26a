// `npm start -- "QUESTION"`: the command `solve`, with a sample question for those who just want to see it run.
import { parseArgs } from 'node:util';

const SAMPLE = 'What is the capital of France?';

const given = process.argv.slice(2);
// The options of `solve` that take a value, which is then no question.
const valued = ['config', 'seed', 'allow', 'deny'].map((name) => [name, { type: 'string' }]);
const { positionals, values } = parseArgs({
  args: given,
  options: Object.fromEntries(valued),
  strict: false,
  allowPositionals: true,
});
const needsSample = positionals.length === 0 && !values.help && !values.h;
if (needsSample) {
  console.error(`No question given, so here is a sample: ${SAMPLE}\nAsk your own: npm start -- "QUESTION"`);
}

// In this very process, so that signals and the exit code are the command's own.
const command = new URL('../lib/cli/main.js', import.meta.url);
process.argv.splice(2, Infinity, 'solve', ...given, ...(needsSample ? [SAMPLE] : []));
await import(command.href);
