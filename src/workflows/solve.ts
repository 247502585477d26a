import { ApplicationFailure, defineQuery, setHandler, workflowInfo } from '@temporalio/workflow';
import { FAILURES } from '../protocol/failures';
import { READ_TEXT, STATE_QUERY } from '../protocol/names';
import type { SolveInput, SolveTrace } from '../protocol/solve';
import { findInputProblem, questionOf } from '../protocol/solve-input';
import type { Text } from '../protocol/text';
import { emptyTrace } from '../trace/apply-event';
import { storeActivities } from './activities';
import { isOwnCancellation } from './failure';
import { obtainPlan } from './obtain-plan';
import { Recorder } from './recorder';
import { runPlan } from './run-plan';

/** The live trace, long texts by reference. Answers on finished runs too. */
export const stateQuery = defineQuery<SolveTrace>(STATE_QUERY);

/** An answer up to this size comes whole with the result; it fits a payload (2 MB) even with every quote escaped. */
const WHOLE_ANSWER_BYTES = 900_000;

/**
 * Workflow `solve`: question → plan → steps → answer.
 *
 * @returns the trace of the run, its `answer` whole wherever it fits a payload
 * @throws ApplicationFailure of type `Solve.NoAnswer` when every step failed, `Solve.BadInput` for an input no run
 *   can be made of, `Configuration.Invalid` when the worker cannot serve it; the trace is in its details
 */
export async function solve(input: SolveInput): Promise<SolveTrace> {
  const { workflowId, runId } = workflowInfo();
  const recorder = new Recorder(emptyTrace({ id: workflowId, runId, question: questionOf(input) }));
  setHandler(stateQuery, () => recorder.trace);
  try {
    const problem = findInputProblem(input);
    if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
    return await answer(input, recorder);
  } catch (error) {
    throw endedBy(error, recorder);
  }
}

async function answer(input: SolveInput, recorder: Recorder): Promise<SolveTrace> {
  const { plan, run, question } = await obtainPlan(input, recorder);
  const found = await runPlan({ question, run, recorder, seed: input.seed }, 0, plan);
  const stoppedBy = ranOutOfTime(recorder.trace) ? 'wallClock' : null;
  if (found === null) throw noAnswer(recorder.trace);
  recorder.record({ kind: 'answered', round: 0, answer: found });
  const whole = await wholeAnswer(found);
  recorder.record({ kind: 'ended', status: 'completed', answer: whole, error: null, stoppedBy });
  return recorder.trace;
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
  const reasons = rounds.flatMap((round) =>
    round.steps.map((step) => `step ${step.index + 1}: ${step.error?.message ?? 'empty output'}`),
  );
  return ApplicationFailure.nonRetryable(`no step gave an answer. ${reasons.join('; ')}`, FAILURES.noAnswer);
}

function ranOutOfTime({ rounds }: SolveTrace): boolean {
  return rounds.some((round) => round.steps.some((step) => step.error?.type === FAILURES.wallClock));
}

/** Closes the trace, and gives a failure the trace to carry: `trace` needs no worker then. */
function endedBy(error: unknown, recorder: Recorder): unknown {
  if (isOwnCancellation(error)) {
    recorder.record({ kind: 'ended', status: 'cancelled', answer: null, error: null, stoppedBy: null });
    return error;
  }
  if (!(error instanceof ApplicationFailure)) return error;
  const problem = { type: error.type ?? 'Error', message: error.message };
  const stoppedBy = ranOutOfTime(recorder.trace) ? 'wallClock' : null;
  recorder.record({ kind: 'ended', status: 'failed', answer: null, error: problem, stoppedBy });
  return ApplicationFailure.create({
    message: error.message,
    type: problem.type,
    nonRetryable: true,
    details: [recorder.trace],
  });
}
