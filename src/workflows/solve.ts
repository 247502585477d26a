import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  workflowInfo,
} from '@temporalio/workflow';
import type { Plan } from '../plan/plan';
import type { Parent, WritePlanRequest } from '../protocol/activities';
import { FAILURES } from '../protocol/failures';
import { findInputProblem, questionOf } from '../protocol/input';
import { READ_TEXT } from '../protocol/names';
import { mayCallItself, type ResolvedRun } from '../protocol/run';
import type { SolveInput, SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { conductorCalled, type RunEvent } from '../trace/events';
import { emptyTrace } from '../trace/reduce';
import { storeActivities } from './activities';
import { reviewAnswer } from './child';
import { isOwnCancellation, limitIn } from './failures';
import { Limits } from './limits';
import { listen } from './listen';
import { type ConductorOutcome, sendToConductor, settlePlan, worstCaseOfPlan } from './make-plan';
import { Recorder, type RunContext } from './run-context';
import { answerOf, runPlan } from './run-plan';
import { Approval, Steering } from './steering';

/** An answer up to this size comes whole with the result; it fits a payload (2 MB) even with every quote escaped. */
const WHOLE_ANSWER_BYTES = 900_000;

/**
 * Workflow `solve`: question → plan → steps → answer → review.
 *
 * @returns the trace of the run, its `answer` whole wherever it fits a payload
 * @throws ApplicationFailure of type `Solve.NoAnswer` when every step failed, `Solve.BadInput` for an input no run
 *   can be made of, `Configuration.Invalid` when the worker cannot serve it, `Limit.*` when a limit ended it before
 *   there was an answer; the trace is in its details
 */
export async function solve(input: SolveInput): Promise<SolveTrace> {
  const { workflowId, runId } = workflowInfo();
  const recorder = new Recorder(emptyTrace({ id: workflowId, runId, question: questionOf(input) }));
  const beginning = { recorder, steering: new Steering(), approval: new Approval() };
  listen(beginning);
  try {
    const problem = findInputProblem(input);
    if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
    const answer = await findAnswer(input, beginning);
    end(beginning, { status: 'completed', answer, error: null });
    return recorder.trace;
  } catch (error) {
    throw endedBy(error, beginning);
  } finally {
    // Whoever sent a message is answered, also by a run that was cancelled.
    beginning.steering.end();
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }
}

async function findAnswer(input: SolveInput, beginning: Beginning): Promise<Text> {
  const { context, first } = await openRun(input, beginning);
  const review = input.parent?.review;
  const plan = await settlePlan(context, { review, first });
  if (review !== undefined && plan.steps.length === 0) {
    context.recorder.record({ kind: 'decided', round: context.round, decision: 'accepted' });
    return review.answer;
  }
  const found = await carryOut(context, plan);
  const best = await reviewAnswer(context, plan, found);
  return input.parent === undefined ? wholeAnswer(best) : best;
}

/** Runs a plan and returns its answer. */
async function carryOut(context: RunContext, plan: Plan): Promise<Text> {
  const { recorder, round, input } = context;
  await runPlan(context, plan, input.given?.outputs);
  const answer = answerOf(context);
  if (answer === null) throw context.limits.reasonToStop() ?? noAnswer(recorder.trace);
  recorder.record({ kind: 'answered', round, answer });
  return answer;
}

async function wholeAnswer(found: Text): Promise<Text> {
  if (typeof found === 'string' || found.bytes > WHOLE_ANSWER_BYTES) return found;
  try {
    return await storeActivities('load the answer')[READ_TEXT](found);
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    // What was found and paid for is not given up because it cannot be copied: the reference is an answer, too.
    return found;
  }
}

function noAnswer({ rounds }: SolveTrace): ApplicationFailure {
  const own = rounds.filter(({ childId }) => childId === null);
  const reasons = own.flatMap((round) =>
    round.steps.map((step) => `step ${step.index + 1}: ${step.error?.message ?? 'empty output'}`),
  );
  return ApplicationFailure.nonRetryable(`no step gave an answer. ${reasons.join('; ')}`, FAILURES.noAnswer);
}

/** Closes the trace, and gives a failure the trace to carry: `trace` needs no worker then. */
function endedBy(error: unknown, beginning: Beginning): unknown {
  if (isOwnCancellation(error)) {
    end(beginning, { status: 'cancelled', answer: null, error: null });
    return error;
  }
  if (!(error instanceof ApplicationFailure)) return error;
  const problem = { type: error.type ?? 'Error', message: error.message };
  end(beginning, { status: 'failed', answer: null, error: problem });
  const { message } = error;
  const details = [beginning.recorder.trace];
  return ApplicationFailure.create({ message, type: problem.type, nonRetryable: true, details });
}

type End = Pick<Extract<RunEvent, { kind: 'ended' }>, 'status' | 'answer' | 'error'>;

/** What stopped the run itself comes before what stopped a child of it. */
function end({ recorder, steering: { limits } }: Beginning, how: End): void {
  const stoppedBy = limits?.stoppedBy ?? recorder.trace.stoppedBy;
  const spent = limits === null ? {} : { spentAtMost: limits.spentAtMost };
  recorder.record({ kind: 'ended', ...how, stoppedBy, ...spent });
}

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
  readonly first: ConductorOutcome | null;
}

/**
 * Resolves what holds for the whole run. A child is given it by its parent; any other run learns it with its first
 * Conductor call, since it may have been started by anybody who knows nothing of the configuration.
 *
 * @throws ApplicationFailure when not even the configuration could be resolved
 */
async function openRun(input: SolveInput, beginning: Beginning): Promise<Opening> {
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
  beginning.steering.attachLimits(limits);
  const { workflowId } = workflowInfo();
  const root = { depth: 0, round: 0, rootId: workflowId, background: [] };
  return { context: { ...beginning, ...root, input, run, question, limits }, first: outcome };
}

function openChild(input: SolveInput, parent: Parent, beginning: Beginning): RunContext {
  const { run, depth, round, rootId, background, hints } = parent;
  const limits = new Limits(run.limits);
  // A signal may have come before: what the parent knew is older.
  beginning.steering.hints.unshift(...hints);
  beginning.steering.attachLimits(limits);
  const { question } = input;
  return { ...beginning, input, question, run, limits, depth, round, rootId, background };
}

function firstRequest({ question, pool, limits, seed, given }: SolveInput): WritePlanRequest {
  return {
    question,
    round: 0,
    repairs: [],
    pool,
    limits,
    seed,
    ...(given && { given: given.plan }),
  };
}

/** The first answer resolves the configuration, and so does the first failure: its details carry it. */
function resolvedBy(
  outcome: ConductorOutcome,
  input: SolveInput,
): { run: ResolvedRun; question: Text } | null {
  const resolved = 'plan' in outcome ? outcome : outcome.details;
  if (resolved?.run === undefined) return null;
  return { run: completeRun(resolved.run), question: resolved.question ?? input.question };
}

function failureOf(outcome: ConductorOutcome): ApplicationFailure {
  const problem = outcome.problem ?? {
    type: 'Error',
    message: 'the Conductor call resolved no configuration',
  };
  return ApplicationFailure.nonRetryable(problem.message, problem.type);
}

/** What a run was resolved to by a version that knew fewer limits, as a history that is replayed may still hold it. */
type RecordedRun = Omit<ResolvedRun, 'limits' | 'recursion' | 'queuePerProvider'> & {
  readonly limits: Pick<ResolvedRun['limits'], 'steps' | 'wallClockMs'> & Partial<ResolvedRun['limits']>;
} & Partial<Pick<ResolvedRun, 'recursion' | 'queuePerProvider'>>;

/** Fills in what the recording does not say: such a run had no limits but steps and time, and never called itself. */
function completeRun(recorded: RecordedRun): ResolvedRun {
  const unlimited = { depth: 0, calls: Number.MAX_SAFE_INTEGER, tokens: null, nanoUsd: null, approvalMs: 0 };
  return {
    recursion: 'never',
    queuePerProvider: false,
    ...recorded,
    limits: { ...unlimited, ...recorded.limits },
  };
}
