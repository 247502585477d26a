import { attachServer } from '../attach';
import { checkCostLimit } from '../check-cost-limit';
import type { ExitCode } from '../exit-code';
import { fitToServer } from '../fit-to-server';
import { explainUnknown } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { loadServable } from '../load-settings';
import { openWorkerSession } from '../open-worker-session';
import { showRun } from '../show-run';
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
