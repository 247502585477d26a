import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { WritePlanRequest } from '../protocol/activities';
import type { Parent } from '../protocol/parent';
import { mayCallItself } from '../protocol/recursion';
import type { ResolvedRun } from '../protocol/run';
import type { SolveInput } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { conductorCalled } from '../trace/call-events';
import type { Approval } from './approval';
import { sendToConductor, worstCaseOfPlan, type Outcome } from './ask-conductor';
import { completeRun } from './complete-run';
import { limitIn } from './limit-failure';
import { Limits } from './limits';
import type { Recorder } from './recorder';
import type { RunContext } from './run-context';
import type { Steering } from './steering';

// Until the first call has resolved the configuration, the run goes by its defaults.
const DEFAULT_WALL_CLOCK_MS = 30 * 60_000;
const DEFAULT_HEARTBEAT_MS = 30_000;

/** What is there from a run's first moment. */
export interface Beginning {
  readonly recorder: Recorder;
  readonly steering: Steering;
  readonly approval: Approval;
}

/** A run with everything resolved, and what its first Conductor call brought where one was needed for that. */
export interface Opening {
  readonly context: RunContext;
  readonly first: Outcome | null;
}

/**
 * Resolves what holds for the whole run. A child is given it by its parent; any other run learns it with its first
 * Conductor call, since it may have been started by anybody who knows nothing of the configuration.
 *
 * @throws ApplicationFailure when not even the configuration could be resolved
 */
export async function openRun(input: SolveInput, beginning: Beginning): Promise<Opening> {
  return input.parent === undefined
    ? openRoot(input, beginning)
    : { context: openChild(input, input.parent, beginning), first: null };
}

async function openRoot(input: SolveInput, beginning: Beginning): Promise<Opening> {
  const { recorder } = beginning;
  const { heartbeatMs = DEFAULT_HEARTBEAT_MS } = input;
  const request = firstRequest(input);
  recorder.record({ kind: 'plan-asked', round: 0, depth: 0 });
  const outcome = await sendToConductor(request, { remainingMs: DEFAULT_WALL_CLOCK_MS, heartbeatMs });
  const resolved = resolvedBy(outcome, input);
  const called = conductorCalled(request, outcome);
  recorder.record(called);
  if (resolved === null) throw failureOf(outcome);

  const { run, question } = resolved;
  const limits = new Limits(run.limits);
  const sent = { ...request, run, mayCallItself: mayCallItself(run, 0) };
  limits.book(worstCaseOfPlan(sent, run), called.calls);
  // The activity kept the first call within the limits itself; what it refused ends the run.
  const stoppedBy = 'plan' in outcome ? null : limitIn(outcome.problem.type);
  if (stoppedBy !== null) limits.stopBy(stoppedBy, outcome.problem?.message ?? '');
  beginning.steering.govern(limits);
  const { workflowId } = workflowInfo();
  const root = { depth: 0, round: 0, rootId: workflowId, background: [] };
  return { context: { ...beginning, ...root, input, run, question, limits }, first: outcome };
}

function openChild(input: SolveInput, parent: Parent, beginning: Beginning): RunContext {
  const { run, depth, round, rootId, background, hints } = parent;
  const limits = new Limits(run.limits);
  // A signal may have come before: what the parent knew is older.
  beginning.steering.hints.unshift(...hints);
  beginning.steering.govern(limits);
  const { question } = input;
  return { ...beginning, input, question, run, limits, depth, round, rootId, background };
}

function firstRequest({ question, pool, limits, seed, given }: SolveInput): WritePlanRequest {
  return {
    question,
    round: 0,
    repairs: [],
    ...(pool && { pool }),
    ...(limits && { limits }),
    ...(seed !== undefined && { seed }),
    ...(given && { given: given.plan }),
  };
}

/** The first answer resolves the configuration, and so does the first failure: its details carry it. */
function resolvedBy(outcome: Outcome, input: SolveInput): { run: ResolvedRun; question: Text } | null {
  const resolved = 'plan' in outcome ? outcome : outcome.details;
  if (resolved?.run === undefined) return null;
  return { run: completeRun(resolved.run), question: resolved.question ?? input.question };
}

function failureOf(outcome: Outcome): ApplicationFailure {
  const problem = outcome.problem ?? {
    type: 'Error',
    message: 'the Conductor call resolved no configuration',
  };
  return ApplicationFailure.nonRetryable(problem.message, problem.type);
}
