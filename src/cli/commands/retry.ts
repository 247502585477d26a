import { unpricedOf } from '../../config/notices';
import { resolveRun } from '../../config/resolve-run';
import type { TrainableConfig as Config } from '../../training/config/schema';
import type { PoolFilter } from '../../protocol/activities';
import { attachServer, fitToServer } from '../attach';
import { type ExitCode, UsageError } from '../exit-code';
import { explainUnknown, showRun } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { openWorkerSession } from '../session';
import { loadServable } from '../settings';
import { say } from '../terminal';

/** The options of `retry`. */
export interface RetryOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** Number of the step, from 1. */
  readonly from: number;
  readonly worker?: string;
  readonly subtask?: string;
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
}

/** Goes on from a step of an earlier run, as a new one with a worker of its own, and shows it to its end. */
export async function retry(id: string, options: RetryOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadServable(options.config);
  if (typeof options.maxCost === 'number') checkCostLimit(loaded, {});
  const server = await attachServer(loaded, { used: true });
  const config = fitToServer(server, loaded, options.config);
  const session = await openWorkerSession(server, config, { graceMs: 0 });
  const { from, worker, subtask, maxCost: costUsd } = options;
  const request = {
    from: from - 1,
    ...(worker && { worker }),
    ...(subtask && { subtask }),
    ...(costUsd !== undefined && { limits: { costUsd } }),
  };
  try {
    const again = await session.conductor.retry(id, request).catch((error: unknown) => {
      throw explainUnknown(error, id, session);
    });
    say(`Goes on from step ${from} of ${id} as ${again.id}.`);
    return await showRun(session, again.id, interruption, options);
  } finally {
    await session.close();
  }
}

/**
 * Refuses a limit on cost that nobody could hold: whoever asks for one by name relies on it.
 *
 * @throws UsageError that names whose price is unknown, and what to do
 */
export function checkCostLimit(config: Config, pool: PoolFilter): void {
  const unpriced = unpricedOf(resolveRun(config, { pool }));
  if (unpriced.length === 0) return;
  const remedies = [
    unpriced.some(({ canBePriced }) => canBePriced)
      ? 'add "price: { input, output }", in USD per million tokens, to it in conductor.yaml'
      : null,
    ...unpriced.flatMap(({ worker }) => (worker === null ? [] : `leave it out with --deny ${worker}`)),
  ];
  throw new UsageError(
    `--max-cost cannot be enforced, since no price is known of ${unpriced.map(({ name }) => name).join(', ')}: ` +
      remedies.filter((remedy) => remedy !== null).join(', or '),
  );
}
