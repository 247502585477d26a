import { ApplicationFailure } from '@temporalio/workflow';
import type { Plan } from '../plan/plan';
import type { FailedReply, WritePlanRequest, WritePlanResult } from '../protocol/activities';
import { WRITE_PLAN } from '../protocol/names';
import type { ResolvedRun } from '../protocol/run';
import type { SolveInput } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { CallFailure } from '../trace/read-failure';
import { modelActivities, queueFor } from './activities';
import { mayBeBoughtAgain, readCallFailure } from './failure';
import type { Recorder } from './recorder';
import { remainingMs } from './run-context';

/** How often the Conductor is shown what was wrong with its plan before the run goes on without it. */
const MAX_REPAIRS = 2;
/** How often a Conductor call that may have been billed without an answer is made again. */
const MAX_REPURCHASES = 1;

// Until the first call has resolved the configuration, the run goes by its defaults.
const DEFAULT_WALL_CLOCK_MS = 30 * 60_000;
const DEFAULT_HEARTBEAT_MS = 30_000;

/** A plan to run, and what the first Conductor call resolved for the whole run. */
export interface ObtainedPlan {
  readonly plan: Plan;
  readonly run: ResolvedRun;
  readonly question: Text;
}

/**
 * Asks the Conductor for a plan, shows it its mistakes, and in the end does without it: one step for the first
 * worker of the pool, marked as degraded. A provider's failure is never counted as a bad plan.
 *
 * @throws ApplicationFailure when not even the configuration could be resolved
 */
export async function obtainPlan(input: SolveInput, recorder: Recorder): Promise<ObtainedPlan> {
  const round = 0;
  const tries: Tries = { repairs: [], repurchases: 0 };
  let known: Omit<ObtainedPlan, 'plan'> | null = null;
  recorder.record({ kind: 'plan-asked', round });
  for (;;) {
    const outcome = await askForPlan(requestOf(input, round, tries.repairs, known?.run), input.heartbeatMs);
    recorder.record({ kind: 'conductor-called', calls: callsOf(outcome) });
    known ??= resolvedBy(outcome, input);
    if (known === null) throw failureOf(outcome);

    const written = 'plan' in outcome ? outcome.plan : null;
    const isTimeLeft = remainingMs(known.run.limits.wallClockMs) > 0;
    if (written === null && isTimeLeft && mayTryAgain(outcome, tries)) continue;
    const plan = written ?? standInPlan(known.run);
    recorder.record({ kind: 'planned', round, plan, degraded: written === null });
    return { ...known, plan };
  }
}

/** What was tried so far without a plan coming of it. */
interface Tries {
  readonly repairs: FailedReply[];
  repurchases: number;
}

/** Notes what went wrong; true while the Conductor shall be asked once more. */
function mayTryAgain(outcome: Outcome, tries: Tries): boolean {
  if ('plan' in outcome) {
    if (outcome.problem !== null) tries.repairs.push({ reply: outcome.reply, problem: outcome.problem });
    return tries.repairs.length <= MAX_REPAIRS;
  }
  tries.repurchases += 1;
  return mayBeBoughtAgain(outcome.problem) && tries.repurchases <= MAX_REPURCHASES;
}

type Outcome = WritePlanResult | CallFailure;

async function askForPlan(request: WritePlanRequest, heartbeatMs: number | undefined): Promise<Outcome> {
  const wallClockMs = request.run?.limits.wallClockMs ?? DEFAULT_WALL_CLOCK_MS;
  const conductor = modelActivities({
    remainingMs: Math.max(1, remainingMs(wallClockMs)),
    heartbeatMs: heartbeatMs ?? request.run?.heartbeatMs ?? DEFAULT_HEARTBEAT_MS,
    summary: request.repairs.length === 0 ? 'plan' : `plan, repair ${request.repairs.length}`,
    ...(request.run && queueFor(request.run, request.run.conductor)),
  });
  try {
    return await conductor[WRITE_PLAN](request);
  } catch (error) {
    return readCallFailure(error, 'conductor');
  }
}

function requestOf(
  input: SolveInput,
  round: number,
  repairs: readonly FailedReply[],
  run: ResolvedRun | undefined,
): WritePlanRequest {
  const { pool, limits, seed } = input;
  return {
    question: input.question,
    round,
    repairs: [...repairs],
    ...(run && { run }),
    ...(pool && { pool }),
    ...(limits && { limits }),
    ...(seed !== undefined && { seed }),
  };
}

function callsOf(outcome: Outcome): WritePlanResult['calls'] {
  return 'plan' in outcome ? outcome.calls : (outcome.details?.calls ?? []);
}

/** The first answer resolves the configuration, and so does the first failure: its details carry it. */
function resolvedBy(outcome: Outcome, input: SolveInput): { run: ResolvedRun; question: Text } | null {
  const resolved = 'plan' in outcome ? outcome : outcome.details;
  if (resolved?.run === undefined) return null;
  return { run: resolved.run, question: resolved.question ?? input.question };
}

function failureOf(outcome: Outcome): ApplicationFailure {
  const problem = outcome.problem ?? {
    type: 'Error',
    message: 'the Conductor call resolved no configuration',
  };
  return ApplicationFailure.nonRetryable(problem.message, problem.type);
}

function standInPlan(run: ResolvedRun): Plan {
  const [best] = run.workers;
  if (best === undefined) throw ApplicationFailure.nonRetryable('the resolved pool is empty');
  return { steps: [{ worker: best.id, subtask: 'Answer the question completely.', sees: [] }] };
}
