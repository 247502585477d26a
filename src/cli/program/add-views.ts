import { Option } from 'commander';
import { COST_GROUPS, type CostGroup } from '../../ledger/cost-groups';
import { CONFIG, type AddCommands } from './add-command';

/** Commands that look and change nothing. */
export const addViews: AddCommands = (program, settle) => {
  program
    .command('watch')
    .description('follow a run to its end, and print the answer')
    .argument('<id>')
    .option(...CONFIG)
    .option('--json', 'print the whole result as JSON')
    .action(async (id: string, options: object) => {
      const { watch } = await import('../commands/watch.js');
      settle(await watch(id, options));
    });

  program
    .command('trace')
    .description('print what happened in a run so far')
    .argument('<id>')
    .option(...CONFIG)
    .addOption(
      new Option('--format <format>').choices(['tree', 'json', 'mermaid', 'markdown']).default('tree'),
    )
    .action(async (id: string, options: { format: 'tree' | 'json' | 'mermaid' | 'markdown' }) => {
      const { trace } = await import('../commands/trace.js');
      settle(await trace(id, options));
    });

  program
    .command('cost')
    .description('sum what was spent, from the ledger')
    .option(...CONFIG)
    .addOption(new Option('--by <what>', 'a line each').choices(COST_GROUPS).default('day'))
    .option('--since <date>', 'first day, e.g. 2026-11-01')
    .option('--until <date>', 'last day')
    .option('--utc', 'days of UTC instead of those of the local time zone')
    .addOption(new Option('--csv', 'print comma-separated values').conflicts('json'))
    .option('--json', 'print the sums as JSON')
    .action(async (options: { by: CostGroup }) => {
      const { cost } = await import('../commands/cost.js');
      settle(await cost(options));
    });
};
