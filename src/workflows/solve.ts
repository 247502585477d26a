import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  log,
  metricMeter,
  workflowInfo,
} from '@temporalio/workflow';
import { isRecord } from '../plan/validate';
import { FAILURES } from '../protocol/failures';
import type { SolveInput } from '../protocol/input';
import { READ_TEXT, RESOLVE_RUN, SOLVE_WORKFLOW } from '../protocol/names';
import { keptOutputs, questionOf } from '../protocol/planning';
import type { SolveTrace } from '../protocol/solve';
import type { Text, TextRef } from '../protocol/text';
import { METRICS, record } from '../telemetry/metrics';
import { asSentence, describeEnd, whyDegraded } from '../trace/describe';
import { configurationActivities, storeActivities } from './activities';
import { reviewAnswer } from './child';
import { isOwnCancellation, now, orFail } from './failures';
import { handleRunMessages } from './listen';
import { settlePlan } from './make-plan';
import { beginRun, openRun } from './open-run';
import { fitResult } from './payload-budget';
import { mayRecurse, type RunContext, type RunStart } from './run-context';
import { answerOf, runPlan } from './run-plan';
import type { RunEvent } from '../trace/events';

/** Longer answers stay references: they would not fit the result. */
const WHOLE_ANSWER_BYTES = 900_000;

/**
 * Workflow `conductorSolve`: question → plan → steps → answer → review. Returns the trace of the run, with the whole
 * `answer` if it fits a payload.
 * @throws ApplicationFailure of type `Solve.NoAnswer`, `Answer.Invalid`, `Solve.BadInput`, `Configuration.Invalid` or
 *   `Limit.*`, with the trace in its details
 */
export async function conductorSolve(input: SolveInput): Promise<SolveTrace> {
  const start = beginRun(input);
  const { recorder, steering } = start;
  handleRunMessages(start);
  try {
    refuseUnfit(input);
    const answer = await findAnswer(input, start);
    end(start, { status: 'completed', answer, error: null });
    // An answer does not show what failed on the way, so the worker's log does. The SDK logs a failed run itself.
    const lost = input.parent === undefined ? whyDegraded(recorder.trace) : [];
    for (const line of lost) log.warn(`degraded: ${line}`);
    return fitResult(recorder.trace);
  } catch (error) {
    throw endedBy(error, start);
  } finally {
    // A cancelled run, too, answers every message and passes it on.
    steering.isOver = true;
    const isDone = (): boolean => allHandlersFinished() && !steering.isTelling;
    if (!isDone()) await CancellationScope.nonCancellable(() => condition(isDone));
  }
}

/** Refuses input that the rest cannot read. The activity that resolves the run checks everything else. */
function refuseUnfit(input: unknown): void {
  if (!isRecord(input)) {
    const hint = 'encryption.strict leaves out one that is not encrypted for this run';
    throw badInput(`the input of conductorSolve must be one object, { question, … } (${hint})`);
  }
  // A parent solve sends input that it has checked itself, and a client cannot be a parent.
  if (input.parent !== undefined && workflowInfo().parent === undefined) {
    throw badInput('"parent" is for a solve that another solve starts: leave it out');
  }
}

function badInput(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
}

async function findAnswer(input: SolveInput, start: RunStart): Promise<Text> {
  const { parent } = input;
  // A child takes its run from its parent; any other run has the configuration resolved. The history reader takes the run
  // from the only local activity that returns one (rule 1 of `client/trace-reader.ts`).
  const resolved =
    parent === undefined
      ? await orFail(configurationActivities('resolve the configuration')[RESOLVE_RUN](input))
      : { ...parent, question: questionOf(input) };
  const context = openRun(input, start, resolved);
  const review = parent?.review;
  const plan = await settlePlan(context);
  if (review !== undefined && plan.steps.length === 0) {
    context.recorder.record({ kind: 'decided', round: context.round, decision: 'accepted' });
    return review.answer;
  }
  await runPlan(context, plan, keptOutputs(input, plan));
  const found = answerFound(context);
  const best = mayRecurse('review', context) ? await reviewAnswer(context, plan, found) : found;
  return parent === undefined && typeof best !== 'string' ? wholeAnswer(best, context.run.storeId) : best;
}

/**
 * @throws ApplicationFailure of type `Solve.NoAnswer` or `Answer.Invalid`, or of the limit that stopped the run before
 *   there was an answer
 */
function answerFound(context: RunContext): Text {
  const { recorder, round } = context;
  const answer = answerOf(context);
  if (answer === null) throw context.limits.reasonToStop() ?? noAnswer(recorder.trace);
  recorder.record({ kind: 'answered', round, answer });
  return answer;
}

async function wholeAnswer(found: TextRef, storeId: string | undefined): Promise<Text> {
  if (found.bytes > WHOLE_ANSWER_BYTES) return found;
  try {
    return await storeActivities('load the answer')[READ_TEXT](found, storeId);
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    // Answers by reference if the text cannot be loaded, rather than lose what was paid for.
    return found;
  }
}

function noAnswer({ rounds }: SolveTrace): ApplicationFailure {
  const own = rounds.filter(({ childId }) => childId === null);
  const invalid = own.at(-1)?.steps.at(-1)?.error;
  if (invalid?.type === FAILURES.answerInvalid) {
    return ApplicationFailure.nonRetryable(`${invalid.message}. The trace has its text.`, invalid.type);
  }
  const reasons = own.flatMap(({ steps, error }) => [
    ...(error === undefined ? [] : [`plan: ${error.message}`]),
    ...steps.map((step) => `step ${step.index + 1}: ${step.error?.message ?? 'empty output'}`),
  ]);
  const sentences = ['no step gave an answer', ...reasons].map(asSentence);
  return ApplicationFailure.nonRetryable(sentences.join(' '), FAILURES.noAnswer);
}

/** Closes the trace and puts it into the failure, which the history reader takes (rule 6 of `client/trace-reader.ts`). */
function endedBy(error: unknown, start: RunStart): unknown {
  if (isOwnCancellation(error)) {
    end(start, { status: 'cancelled', answer: null, error: null });
    return error;
  }
  if (!(error instanceof ApplicationFailure)) return error;
  const problem = { type: error.type ?? 'Error', message: error.message };
  end(start, { status: 'failed', answer: null, error: problem });
  const details = [fitResult(start.recorder.trace)];
  return ApplicationFailure.create({ ...problem, nonRetryable: true, details });
}

type End = Pick<Extract<RunEvent, { kind: 'ended' }>, 'status' | 'answer' | 'error'>;

/** Records the end of a run. Its own reason to stop wins over a child's. */
function end({ recorder, steering: { limits } }: RunStart, how: End): void {
  const stoppedBy = limits?.stoppedBy ?? recorder.trace.stoppedBy;
  const spent = limits === null ? {} : { spentAtMost: limits.spentAtMost };
  recorder.record({ kind: 'ended', ...how, stoppedBy, ...spent, at: now() });
  // The line of the whole run covers its parts.
  if (workflowInfo().workflowType !== SOLVE_WORKFLOW) return;
  record(metricMeter, METRICS.solves, 1, { status: how.status });
  log.info(describeEnd(recorder.trace));
}
