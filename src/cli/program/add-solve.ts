import { Option } from 'commander';
import { CONFIG, type AddCommands } from './add-command';
import { readDepth, readIds, readInteger, readPriority, readTenant, readUsd } from './read-argument';

/** `solve`: what the program is for. */
export const addSolve: AddCommands = (program, settle) => {
  program
    .command('solve')
    .description('solve a question with a worker of its own, and print the answer')
    .argument('<question>', '- reads it from standard input')
    .option(...CONFIG)
    .option('--seed <number>', 'sent to models that take one', readInteger)
    .option('--allow <ids>', 'use these workers only, e.g. gpt,sonnet', readIds)
    .option('--deny <ids>', 'do not use these workers', readIds)
    .option('--max-depth <number>', 'how deep the Conductor may call itself; none: no limit', readDepth)
    .option('--max-cost <usd>', 'end with the best answer so far before more is spent', readUsd)
    .addOption(
      new Option('--approve [which]', 'ask before a plan is run: the first one, or those of children too')
        .choices(['plan', 'all'])
        .preset('plan'),
    )
    .option(
      '--priority <1-5>',
      'who is served first where calls wait: 1 before 5, 3 without it',
      readPriority,
    )
    .option('--tenant <name>', 'for whom it is, where calls that wait shall be shared out fairly', readTenant)
    .option('--json', 'print the whole result as JSON')
    .addOption(
      new Option(
        '--detach',
        'start the run, print its id and leave it to the workers that are there',
      ).conflicts('json'),
    )
    .action(async (question: string, options: object) => {
      const { solve } = await import('../commands/solve.js');
      settle(await solve(question, options));
    });
};
