import { workflowInfo } from '@temporalio/workflow';
import type { Plan, Step } from '../plan/plan';
import type { VisibleStep } from '../protocol/activities';
import { CONDUCTOR_ID } from '../protocol/names';
import type { StepTrace } from '../protocol/solve';
import { ownStepEnded, ownStepStarted, type ChildOutcome } from '../trace/child-events';
import { readCallFailure } from './failure';
import { now } from './now';
import { runChild } from './run-child';
import { mayReview, type RunContext } from './run-context';

/** A step that the Conductor gave to itself. */
interface OwnStep {
  readonly step: number;
  readonly plan: Plan;
  readonly sees: readonly VisibleStep[];
}

const SUMMARY_CHARACTERS = 80;

/**
 * Runs a step as a solve of its own, one level deeper: its subtask is the question, and what it may see is known to
 * everybody there. (The paper lets the Conductor review its answers only; this is the same call, made by a plan.)
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
