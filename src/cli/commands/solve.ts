import { checkQuestion } from '../../client/check-question';
import type { SolveRequest } from '../../client/conductor-client';
import type { Config } from '../../pool/config-schema';
import { attachServer } from '../attach';
import { checkCostLimit } from '../check-cost-limit';
import { EXIT, type ExitCode } from '../exit-code';
import { durationMs } from '../../pool/duration';
import { fitToServer } from '../fit-to-server';
import { listenForInterruption } from '../interruption';
import { loadServable, loadSettings } from '../load-settings';
import { openSession } from '../open-session';
import { openWorkerSession } from '../open-worker-session';
import { readQuestion } from '../read-question';
import { sayUnfinished } from '../say-runs';
import { showRun } from '../show-run';
import { print, say } from '../terminal';

/** The options of `solve` as the command line gives them. */
export interface SolveOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly seed?: number;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** null: no limit. */
  readonly maxDepth?: number | null;
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  readonly approve?: 'plan' | 'all';
  readonly priority?: number;
  readonly tenant?: string;
}

/** Solves one question with a worker of its own, or hands it to the workers that are there. */
export async function solve(argument: string, options: SolveOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const load = options.detach === true ? loadSettings : loadServable;
  const loaded = await load(options.config, poolOf(options));
  if (typeof options.maxCost === 'number') checkCostLimit(loaded, poolOf(options));
  const question = await readQuestion(argument);
  checkQuestion(question);
  if (options.detach === true) return detach(loaded, question, options);

  const server = await attachServer(loaded);
  const config = fitToServer(server, loaded, options.config);
  const session = await openWorkerSession(server, config, { graceMs: 0 });
  try {
    await sayUnfinished(session, config);
    interruption.throwIfAborted();
    const { id } = await session.conductor.start(requestOf(question, options, config));
    return await showRun(session, id, interruption, options);
  } finally {
    await session.close();
  }
}

/** Starts the run and leaves: the id goes to stdout, for scripts. */
async function detach(loaded: Config, question: string, options: SolveOptions): Promise<ExitCode> {
  const server = await attachServer(loaded, { outliving: '--detach' });
  const config = fitToServer(server, loaded, options.config);
  const session = await openSession(server, config);
  try {
    const { id } = await session.conductor.start(requestOf(question, options, config));
    await print(id);
    say(`Follow it with: temporal-conductor watch ${id}`);
    return EXIT.answered;
  } finally {
    await session.close();
  }
}

function requestOf(question: string, options: SolveOptions, { temporal }: Config): SolveRequest {
  const { seed, approve, priority, tenant, maxDepth: depth, maxCost: costUsd } = options;
  const limits = { ...(depth !== undefined && { depth }), ...(costUsd !== undefined && { costUsd }) };
  return {
    question,
    pool: poolOf(options),
    heartbeatMs: durationMs(temporal.heartbeat),
    ...(seed !== undefined && { seed }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(approve && { approval: approve }),
    ...(priority !== undefined && { priority }),
    ...(tenant !== undefined && { tenant }),
  };
}

function poolOf({ allow, deny }: SolveOptions): { allow?: string[]; deny?: string[] } {
  return { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) };
}
