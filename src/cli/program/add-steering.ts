import { Option } from 'commander';
import { CONFIG, type AddCommands } from './add-command';
import { readCalls, readCount, readDepth, readDuration, readTokens, readUsd } from './read-argument';

/** Commands that change a run while it goes on, and those that end it or begin it anew. */
export const addSteering: AddCommands = (program, settle) => {
  program
    .command('depth')
    .description('change how deep the Conductor may call itself, in children under way too')
    .argument('<id>')
    .argument('<number>', '0: not at all; none: no limit', readDepth)
    .option(...CONFIG)
    .action(async (id: string, limit: number | null, options: object) => {
      const { depth } = await import('../commands/depth.js');
      settle(await depth(id, limit, options));
    });

  program
    .command('limits')
    .description('change what a run and its children may use, and print what then holds')
    .argument('<id>')
    .option('--max-cost <usd>', 'none: no limit', readUsd)
    .option('--calls <number>', 'requests to models', readCalls)
    .option('--tokens <number>', 'input and output; none: no limit', readTokens)
    .option('--wall-clock <duration>', 'from the start of the run, e.g. 30m', readDuration)
    .option('--steps <number>', 'of one plan', readCount)
    .option(...CONFIG)
    .action(async (id: string, options: object) => {
      const { limits } = await import('../commands/limits.js');
      settle(await limits(id, options));
    });

  program
    .command('approve')
    .description('let the plan run that waits for approval, or another one, or none')
    .argument('<id>')
    .option('--edit <file>', 'run this plan instead: YAML, JSON or the three lists')
    .addOption(
      new Option('--reject <reason>', 'have the Conductor write another one, told why').conflicts('edit'),
    )
    .option(...CONFIG)
    .action(async (id: string, options: object) => {
      const { approve } = await import('../commands/approve.js');
      settle(await approve(id, options));
    });

  program
    .command('hint')
    .description('tell the Conductor something to mind, from its next call on')
    .argument('<id>')
    .argument('<text>')
    .option(...CONFIG)
    .action(async (id: string, text: string, options: object) => {
      const { hint } = await import('../commands/hint.js');
      settle(await hint(id, text, options));
    });

  program
    .command('retry')
    .description('run a plan again from a step, as a new run that keeps the outputs before it')
    .argument('<id>')
    .requiredOption('--from <step>', 'number of the step, from 1', readCount)
    .option('--worker <id>', 'another worker for that step')
    .option('--subtask <text>', 'another task for that step')
    .option('--max-cost <usd>', 'for the new run, in place of the earlier limit', readUsd)
    .option('--json', 'print the whole result as JSON')
    .option(...CONFIG)
    .action(async (id: string, options: { from: number }) => {
      const { retry } = await import('../commands/retry.js');
      settle(await retry(id, options));
    });

  program
    .command('cancel')
    .description('stop a run, and wait until it has ended')
    .argument('<id>')
    .option(...CONFIG)
    .action(async (id: string, options: object) => {
      const { cancel } = await import('../commands/cancel.js');
      settle(await cancel(id, options));
    });
};
