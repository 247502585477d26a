import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { Share } from '../budget/account';
import type { SpendingLimits } from '../protocol/cards';
import { jsonBytes, type Plan, utf8Bytes } from '../plan/plan';
import type { RunTask, WorkerRequest } from '../protocol/activity-contract';
import { FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID, SOLVE_PART_WORKFLOW } from '../protocol/names';
import type { Parent, SolveInput } from '../protocol/input';
import type { StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import {
  type ChildOutcome,
  failedChild,
  ownStepEnded,
  ownStepStarted,
  reviewed,
  revisionIn,
} from '../trace/events';
import { ownRound } from '../trace/run-tree';
import { stepSummary } from './activities';
import { isOwnCancellation, now, readCallFailure } from './failures';
import { mayRecurse, type RunContext } from './run-context';
import type { ChildSolve, SteeringState } from './steering';

/** Runs a step that the Conductor gave to itself as a solve one level deeper. All its calls see what the step sees. */
export async function callItself(
  context: RunContext,
  step: number,
  own: Pick<WorkerRequest, 'answerSchema' | 'maxAnswerTokens' | 'subtask' | 'sees'>,
): Promise<void> {
  const { recorder, run, round, limits, background } = context;
  const { subtask, sees, answerSchema, maxAnswerTokens } = own;
  const childId = `${workflowInfo().workflowId}-r${round}s${step + 1}`;
  const startedAt = now();
  recorder.record(ownStepStarted({ round, step, childId, model: run.conductor.model, at: startedAt }));
  let outcome: ChildOutcome;
  try {
    const parts = unfinishedParts(context);
    const share = limits.share(parts) ?? (await limits.waitFor(() => limits.share(parts)));
    outcome = await runChild(context, share, {
      childId,
      question: subtask,
      round: 0,
      step,
      background: [...background, ...sees.map(({ subtask, output }) => ({ subtask, output }))],
      answerSchema,
      maxAnswerTokens,
      summary: stepSummary(step, subtask),
    });
  } catch (error) {
    outcome = { trace: null, problem: readCallFailure(error, CONDUCTOR_ID).problem };
  }
  recorder.record(ownStepEnded({ round, step, startedAt, endedAt: now() }, outcome));
}

/** Counts the parts that may still need a share of what is left: each unfinished step, and the review. */
function unfinishedParts(context: RunContext): number {
  const { recorder, round } = context;
  const isUnfinished = ({ endedAt, output }: StepTrace): boolean => endedAt === null && output === null;
  const unfinished = ownRound(recorder.trace, round)?.steps.filter(isUnfinished).length ?? 0;
  return Math.max(1, unfinished + (mayRecurse('review', context) ? 1 : 0));
}

/**
 * Has the Conductor review the plan and its answer, one level deeper, and returns the answer that stands. The child
 * accepts the answer with an empty plan, or runs a plan that corrects it and has that answer reviewed in turn. A
 * failed review keeps the earlier answer. (Paper section 3.2, which leaves an unreadable review open.)
 */
export async function reviewAnswer(context: RunContext, plan: Plan, answer: Text): Promise<Text> {
  const { recorder, round, depth, question, conversation, answerSchema, background, limits } = context;
  let share: Share;
  try {
    share = limits.share(1) ?? (await limits.waitFor(() => limits.share(1)));
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    // Nothing is left for a review: the run reports which limit it was, and keeps its answer.
    return answer;
  }
  const childId = `${workflowInfo().workflowId}-review`;
  recorder.record({ kind: 'review-started', round: round + 1, depth: depth + 1, childId });
  const outcome = await runChild(context, share, {
    childId,
    question,
    conversation,
    answerSchema,
    maxAnswerTokens: context.input.maxAnswerTokens,
    round: round + 1,
    background: [...background.filter(({ subtask }) => subtask !== null), { subtask: null, output: answer }],
    review: { plan, answer },
    summary: `review of round ${round + 1}`,
  });
  const revision = revisionIn(outcome, round + 1);
  recorder.record(reviewed(round, outcome));
  return revision ?? answer;
}

interface ChildOptions
  extends
    RunTask,
    Pick<SolveInput, 'maxAnswerTokens'>,
    Pick<Parent, 'round' | 'step' | 'background' | 'review'> {
  readonly childId: string;
  readonly summary: string;
}

/**
 * Starts a child solve, forwards messages to it, waits for its end, and releases the rest of its share. The child is
 * asked to stop when its parent ends, so that no part of a tree spends after its root.
 */
async function runChild(context: RunContext, share: Share, options: ChildOptions): Promise<ChildOutcome> {
  const { limits, steering, recorder } = context;
  const { childId } = options;
  let outcome: ChildOutcome;
  try {
    const start = (known: SteeringState): Promise<ChildSolve> =>
      startSolve(context, options, share.limits, known);
    outcome = { trace: await steering.runChild(limits, start), problem: null };
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    outcome = failedChild(error, childId);
  }
  share.settle(outcome.trace?.spentAtMost ?? null);
  recorder.record({ kind: 'child-ended', childId, ...outcome });
  return outcome;
}

/** Longest id: for a longer one, the server would refuse the whole workflow task again and again. */
const MAX_ID_BYTES = 1000;

async function startSolve(
  { input: asked, run, limits, payloads, toolBox, depth, rootId, steering }: RunContext,
  { childId, summary, question, maxAnswerTokens, background, ...options }: ChildOptions,
  share: SpendingLimits,
  { depth: maxDepth, hints }: SteeringState,
): Promise<ChildSolve> {
  if (utf8Bytes(childId) > MAX_ID_BYTES) {
    const reason = `its id would be longer than the ${MAX_ID_BYTES} bytes that Temporal takes`;
    throw ApplicationFailure.nonRetryable(`no child was started: ${reason}`, FAILURES.badInput);
  }
  const { approval, seed, live, traceparent } = asked;
  const wallClockMs = Math.max(1, limits.remainingMs());
  const toolset = toolBox.share();
  const childLimits = { ...limits.current, ...share, depth: maxDepth, wallClockMs };
  const parent: Parent = {
    rootId,
    depth: depth + 1,
    run: { ...run, limits: childLimits, ...(toolset && { toolset }) },
    hints,
    background: payloads.takesInline(background) ? background : await payloads.byReference(background),
    ...options,
  };
  const rights = steering.rights.ofChild({ ...share, wallClockMs });
  const input: SolveInput = {
    question,
    maxAnswerTokens,
    parent,
    ...(rights !== undefined && { rights }),
    ...(approval === 'all' && { approval }),
    ...(live === true && { live }),
    seed,
    traceparent,
  };
  // The history reader tells a step from a review by `parent` in the input (rule 4 of `client/trace-reader.ts`).
  return payloads.start(jsonBytes(input), () =>
    startChild(SOLVE_PART_WORKFLOW, {
      workflowId: childId,
      args: [input],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      staticSummary: summary,
    }),
  );
}
