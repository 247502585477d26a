import {
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { SpendingLimits } from '../protocol/messages';
import type { Plan, Step } from '../plan/plan';
import type { Background, Parent, ReviewedRound, VisibleStep } from '../protocol/activities';
import { CONDUCTOR_ID, SOLVE_WORKFLOW } from '../protocol/names';
import type { SolveInput } from '../protocol/input';
import type { SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import {
  type ChildOutcome,
  ownStepEnded,
  ownStepStarted,
  readFailure,
  reviewed,
  revisionIn,
  traceIn,
} from '../trace/events';
import { isOwnCancellation, now, readCallFailure } from './failures';
import type { Share } from './limits';
import { mayReview, type RunContext } from './run-context';
import type { ChildSolve, Snapshot } from './steering';

/** A step that the Conductor gave to itself. */
interface OwnStep {
  readonly step: number;
  readonly plan: Plan;
  readonly sees: readonly VisibleStep[];
}

const SUMMARY_CHARACTERS = 80;

/**
 * Runs a step as a solve of its own, one level deeper: its subtask is the question, and what it may see is known to
 * every call there. (The paper lets the Conductor review its answers only; this is the same call, made by a plan.)
 */
export async function callItself(context: RunContext, own: OwnStep, { subtask }: Step): Promise<void> {
  const { recorder, run, round } = context;
  const address = { round, step: own.step };
  const childId = `${workflowInfo().workflowId}-r${round}s${own.step + 1}`;
  const startedAt = now();
  recorder.record(ownStepStarted(address, { childId, model: run.conductor.model }, startedAt));
  const outcome = await solveApart(context, own, { childId, subtask });
  recorder.record(ownStepEnded(address, outcome, { startedAt, endedAt: now() }));
}

async function solveApart(
  context: RunContext,
  { step, sees }: OwnStep,
  { childId, subtask }: { readonly childId: string; readonly subtask: string },
): Promise<ChildOutcome> {
  try {
    const share = await context.limits.share(unfinishedParts(context));
    return await runChild(context, share, {
      childId,
      question: subtask,
      round: 0,
      step,
      background: [...context.background, ...sees.map(({ subtask, output }) => ({ subtask, output }))],
      summary: `step ${step + 1} · ${subtask.slice(0, SUMMARY_CHARACTERS).replace(/\s+/g, ' ')}`,
    });
  } catch (error) {
    return { trace: null, problem: readCallFailure(error, CONDUCTOR_ID).problem };
  }
}

/** Who may still need a part of what is left: each step that is not done, and the review. */
function unfinishedParts(context: RunContext): number {
  const { recorder, round } = context;
  const own = recorder.trace.rounds.find((each) => each.childId === null && each.round === round);
  const isUnfinished = ({ endedAt, output }: StepTrace): boolean => endedAt === null && output === null;
  const unfinished = own?.steps.filter(isUnfinished).length ?? 0;
  return Math.max(1, unfinished + (mayReview(context) ? 1 : 0));
}

/**
 * Has the Conductor read the plan and its answer once more, one level deeper, and returns the answer that stands.
 *
 * The child accepts it by an empty plan, or runs a plan that corrects it, whose answer it has reviewed in turn: so
 * reviews chain as far as the depth allows, and no answer is reviewed twice. Whatever else becomes of it, an unreadable reply, a
 * refusal, a limit, a kill, leaves the answer at hand as it is. (Paper section 3.2; where the paper leaves open what an
 * unreadable review does, the earlier answer is kept.)
 */
export async function reviewAnswer(context: RunContext, plan: Plan, answer: Text): Promise<Text> {
  const share = mayReview(context) ? await shareUnlessSpent(context) : null;
  if (share === null) return answer;
  const { recorder, round, depth, question, background } = context;
  const childId = `${workflowInfo().workflowId}-review`;
  recorder.record({ kind: 'review-started', round: round + 1, depth: depth + 1, childId });
  const outcome = await runChild(context, share, {
    childId,
    question,
    round: round + 1,
    background: [...background.filter(({ subtask }) => subtask !== null), { subtask: null, output: answer }],
    review: { plan, answer },
    summary: `review of round ${round + 1}`,
  });
  const revision = revisionIn(outcome, round + 1);
  recorder.record(reviewed(round, revision));
  return revision ?? answer;
}

/** null where nothing is left for a review: the run says which limit it was, and has its answer. */
async function shareUnlessSpent({ limits }: RunContext): Promise<Share | null> {
  try {
    return await limits.share(1);
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    return null;
  }
}

/** A solve to be started from this one. */
export interface ChildOptions {
  readonly childId: string;
  readonly question: Text;
  /** Number of the child's own plan. */
  readonly round: number;
  readonly background: readonly Background[];
  readonly review?: ReviewedRound;
  /** Index of the step that it is for. */
  readonly step?: number;
  /** One line for Temporal's UI. */
  readonly summary: string;
}

/**
 * Starts a child solve, passes on what the run receives meanwhile, and waits for its end.
 *
 * It is asked to stop when its parent ends, however that ends, and a cancelled run waits for it: so nothing of a tree
 * goes on spending after its root.
 *
 * @param share what was set aside for it; the rest is given back when it has ended
 * @throws this run's own cancellation
 */
async function runChild(context: RunContext, share: Share, options: ChildOptions): Promise<ChildOutcome> {
  const { limits, steering, recorder } = context;
  const outcome = await readOutcome(
    () =>
      steering.runChild(limits, share.limits, (known) => startSolve(context, options, share.limits, known)),
    options.childId,
  );
  share.settle(outcome.trace?.spentAtMost ?? null);
  recorder.record({ kind: 'child-ended', childId: options.childId, trace: outcome.trace });
  return outcome;
}

async function readOutcome(work: () => Promise<SolveTrace>, childId: string): Promise<ChildOutcome> {
  try {
    return { trace: await work(), problem: null };
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    return { trace: traceIn(error), problem: readFailure(error, childId).problem };
  }
}

function startSolve(
  context: RunContext,
  { childId, summary, ...options }: ChildOptions,
  share: SpendingLimits,
  known: Snapshot,
): Promise<ChildSolve> {
  const { approval, seed } = context.input;
  const input: SolveInput = {
    question: options.question,
    parent: parentOf(context, options, share, known),
    ...(approval === 'all' && { approval }),
    seed,
  };
  return startChild(SOLVE_WORKFLOW, {
    workflowId: childId,
    args: [input],
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: summary,
  });
}

function parentOf(
  { run, limits, depth, rootId }: RunContext,
  { round, step, background, review }: Omit<ChildOptions, 'childId' | 'summary'>,
  share: SpendingLimits,
  known: Snapshot,
): Parent {
  const wallClockMs = Math.max(1, limits.remainingMs());
  const childLimits = { ...limits.current, ...share, depth: known.depth, wallClockMs };
  return {
    rootId,
    depth: depth + 1,
    round,
    run: { ...run, limits: childLimits },
    background,
    hints: known.hints,
    step,
    review,
  };
}
