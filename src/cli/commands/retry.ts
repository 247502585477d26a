import { type AddCommands, CONFIG, readCount, readUsd } from '../arguments';
import { checkCostLimit } from '../cost-limit';
import type { ExitCode } from '../exit-code';
import { explainUnknown, showRun, type ShowOptions } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { withSession } from '../session';
import { loadServable } from '../settings';
import { say } from '../terminal';

interface RetryOptions extends ShowOptions {
  /** Number of the step, from 1. */
  readonly from: number;
  readonly worker?: string;
  readonly subtask?: string;
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
}

/** `retry`: a new run that begins with what an earlier one had. */
export const addRetry: AddCommands = (program, settle) => {
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
    .action(async (id: string, options: RetryOptions) => {
      settle(await retry(id, options));
    });
};

/** Goes on from a step of an earlier run with a worker of its own, and shows the new run to its end. */
async function retry(id: string, options: RetryOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { config: file, from, worker, subtask, maxCost: costUsd } = options;
  const loaded = await loadServable(file);
  if (typeof costUsd === 'number') checkCostLimit(loaded, {});
  return withSession(loaded, { file, role: 'work', used: true }, async (session) => {
    // An absent limit must stay absent: the earlier run's then holds.
    const limits = costUsd === undefined ? undefined : { costUsd };
    const request = { from: from - 1, worker, subtask, limits };
    const again = await session.conductor.retry(id, request).catch((error: unknown) => {
      throw explainUnknown(error, id, session);
    });
    say(`Goes on from step ${from} of ${id} as ${again.id}.`);
    return showRun(session, again.id, interruption, options);
  });
}
