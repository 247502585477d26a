import { ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { SpendingLimits } from '../money/amount';
import type { Background, Parent, ReviewedRound } from '../protocol/parent';
import { SOLVE_WORKFLOW } from '../protocol/names';
import type { SolveInput, SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { ChildOutcome } from '../trace/child-events';
import { readFailure } from '../trace/read-failure';
import { traceIn } from '../trace/trace-in';
import { isOwnCancellation } from './failure';
import type { Share } from './limits';
import type { RunContext } from './run-context';
import type { ChildSolve, Told } from './steering';

/** A solve to be started from this one. */
export interface ChildWish {
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
 * Starts a child solve, tells it whatever the run is told meanwhile, and waits for its end.
 *
 * It is asked to stop when its parent ends, however that ends, and a cancelled run waits for it: so nothing of a tree
 * goes on spending after its root.
 *
 * @param share what was set aside for it; the rest is given back when it has ended
 * @throws this run's own cancellation
 */
export async function runChild(context: RunContext, share: Share, wish: ChildWish): Promise<ChildOutcome> {
  const { limits, steering, recorder } = context;
  const outcome = await readOutcome(
    () => steering.accompany(limits, share.limits, (told) => startSolve(context, wish, share.limits, told)),
    wish.childId,
  );
  share.settle(outcome.trace?.spentAtMost ?? null);
  recorder.record({ kind: 'child-ended', childId: wish.childId, trace: outcome.trace });
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
  { childId, summary, ...wish }: ChildWish,
  share: SpendingLimits,
  told: Told,
): Promise<ChildSolve> {
  const { approval, seed } = context.input;
  const input: SolveInput = {
    question: wish.question,
    parent: parentOf(context, wish, share, told),
    ...(approval === 'all' && { approval }),
    ...(seed !== undefined && { seed }),
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
  { round, step, background, review }: Omit<ChildWish, 'childId' | 'summary'>,
  share: SpendingLimits,
  told: Told,
): Parent {
  const wallClockMs = Math.max(1, limits.remainingMs());
  const childLimits = { ...limits.current, ...share, depth: told.depth, wallClockMs };
  return {
    rootId,
    depth: depth + 1,
    round,
    run: { ...run, limits: childLimits },
    background,
    hints: told.hints,
    ...(step !== undefined && { step }),
    ...(review && { review }),
  };
}
