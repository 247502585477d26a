import { type Client, ServiceError } from '@temporalio/client';
import {
  checkAsked,
  newRetryId,
  newRunId,
  readRunHistory,
  type RetryRequest,
  type SolveHandle,
  type SolveRequest,
} from '../../client';
import { differencesOf, solvingDigestOf } from '../../config/digest';
import { resolveRun } from '../../config/resolve-run';
import { reasonOf } from '../../errors';
import type { ConfigDigest } from '../../protocol/activity-contract';
import { CONDUCTOR_ID } from '../../protocol/names';
import { checkStore } from '../../store/open-store';
import { type AskedOptions, readAskedFiles } from './asked-files';
import { EXIT, type ExitCode, listenForInterruption } from '../kit/ending';
import { findRun, noteRun } from '../kit/find-run';
import { sayResumed, showRun, type ShowOptions, watchOf } from '../kit/view/follow-run';
import { checkServed } from '../kit/queues';
import { type Session, withSession } from '../kit/session';
import { checkCostLimit, loadServable, loadSettings } from '../kit/load-settings';
import { print, say } from '../kit/terminal';
import { isDrawn } from '../kit/view/follow';

interface SolveOptions extends ShowOptions, AskedOptions, Pick<SolveRequest, 'seed' | 'priority' | 'tenant'> {
  readonly detach?: boolean;
  readonly allow?: string[];
  readonly deny?: string[];
  /** null: no limit. */
  readonly maxDepth?: number | null;
  readonly maxCost?: number | null;
  readonly approve?: 'plan' | 'all';
  /** Entry of `conductors:` that writes the plan; undefined: `conductor:`. */
  readonly conductor?: string;
}

/** `solve`: answers one question with a worker of its own, or hands it to running workers. */
export async function solve(argument: string | undefined, options: SolveOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { detach = false, allow, deny, maxCost, conductor: name } = options;
  const pool = { allow, deny };
  const conductor = name === undefined ? undefined : { name };
  // A mistake in the question is found before a model is downloaded.
  const asked = await readAskedFiles(argument, options);
  checkAsked(asked);
  const loaded = await (detach ? loadSettings(options) : loadServable(options, { pool, conductor }));
  const run = resolveRun(loaded, { pool, conductor });
  if (typeof maxCost === 'number') checkCostLimit(run);
  const { seed, approve: approval, priority, tenant, maxDepth: depth } = options;
  const limits = { depth, costUsd: maxCost };
  const request: SolveRequest = {
    ...asked,
    pool,
    conductor,
    seed,
    limits,
    approval,
    priority,
    tenant,
    // A terminal shows texts while they are written, here or in `watch`.
    ...((options.stream === true || isDrawn(process.stderr)) && { live: true as const }),
  };
  await checkStore(loaded.store);

  const place = detach ? ({ role: 'look', outliving: '--detach' } as const) : ({ role: 'work' } as const);
  return withSession(loaded, options, place, async (session) => {
    const { file } = session;
    if (!detach) await sayResumed(session);
    if (interruption.aborted) {
      say('Interrupted before the run was started.');
      return EXIT.interrupted;
    }
    const { id } = await startNoted(session, request);
    if (!detach) {
      await sayOtherVersion(session, id);
      return showRun(session, id, interruption, options);
    }
    // Scripts read the id, so stdout has nothing else.
    await print(id, { remedy: `follow the run with: ${watchOf(id, file)}` });
    say(`Follow it with: ${watchOf(id, file)}`);
    if (await checkServed(session)) await sayOtherVersion(session, id);
    return EXIT.answered;
  });
}

/** Starts a solve whose id this folder keeps. @throws as `startAs` */
export async function startNoted(session: Session, request: SolveRequest): Promise<SolveHandle> {
  const id = newRunId(checkAsked(request), session.temporal);
  return startAs(id, session, () => session.conductor.start(request, id));
}

/** Starts a run after this folder has kept its id. @throws Error with the id if it may have been started nevertheless */
async function startAs(
  id: string,
  { server, file }: Session,
  start: () => Promise<SolveHandle>,
): Promise<SolveHandle> {
  await noteRun(server, id);
  return start().catch((cause: unknown) => {
    if (!(cause instanceof ServiceError)) throw cause;
    const reason = `Temporal did not confirm the start of run ${id} (${reasonOf(cause.cause)})`;
    throw new Error(`${reason}. If it is running, follow it with: ${watchOf(id, file)}`, { cause });
  });
}

/** `from` counts from 1. */
type RetryOptions = ShowOptions &
  Pick<SolveOptions, 'maxCost'> &
  Pick<RetryRequest, 'from' | 'worker' | 'subtask'>;

/** `retry`: continues an earlier run from one of its steps as a new run, and shows that to its end. */
export async function retry(given: string, options: RetryOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { from, worker, subtask, maxCost: costUsd } = options;
  const loaded = await loadServable(options);
  if (typeof costUsd === 'number') checkCostLimit(resolveRun(loaded));
  // Throws if there is no such worker; the Conductor is not in the pool.
  if (worker !== undefined && worker !== CONDUCTOR_ID) resolveRun(loaded, { pool: { allow: [worker] } });
  await checkStore(loaded.store);
  return withSession(loaded, options, { role: 'work', used: true }, async (session) => {
    // Without a limit of its own, the new run keeps the earlier one's.
    const limits = costUsd === undefined ? undefined : { costUsd };
    const id = await findRun(session, given);
    await sayResumed(session, id);
    const asked = { from: from - 1, worker, subtask, limits, asOperator: true };
    const newId = newRetryId(id);
    const again = await startAs(newId, session, () => session.conductor.retry(id, asked, newId));
    say(`Goes on from step ${from} of ${id} as ${again.id}.`);
    await sayOtherVersion(session, again.id);
    return showRun(session, again.id, interruption, options);
  });
}

/** Timeout for the first workflow task, which resolves a run; a free worker takes it at once. */
const PATIENCE_MS = 3_000;

/** Warns if the worker that began a run read another version of the configuration than this command. */
async function sayOtherVersion({ temporal, config, file }: Session, id: string): Promise<void> {
  const theirs = await readVersion(temporal, id, AbortSignal.timeout(PATIENCE_MS)).catch(() => null);
  const different = theirs === null ? [] : differencesOf(theirs, solvingDigestOf(config));
  if (different.length > 0)
    say(
      `The worker that started this run read another version of ${file ?? 'the configuration'} (${different.join(', ')}), ` +
        'and the run keeps that one. Restart that worker to use your version for the next run.',
    );
}

async function readVersion(temporal: Client, id: string, signal: AbortSignal): Promise<ConfigDigest | null> {
  for await (const { run, config, trace } of readRunHistory(temporal, id, signal)) {
    if (run !== null || trace.status !== 'running') return config;
  }
  return null;
}
