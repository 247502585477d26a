import { workflowInfo } from '@temporalio/workflow';
import type { Plan, Step } from '../plan/plan';
import type { VisibleStep } from '../protocol/activities';
import type { Problem } from '../protocol/call';
import { CONDUCTOR_ID } from '../protocol/names';
import type { StepTrace } from '../protocol/solve';
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
export async function callItself(context: RunContext, { step, sees }: OwnStep, planned: Step): Promise<void> {
  const { recorder, run, round, background } = context;
  const { subtask } = planned;
  const childId = `${workflowInfo().workflowId}-r${round}s${step + 1}`;
  const model = run.conductor.model;
  const startedAt = now();
  const begun = { round, step, worker: CONDUCTOR_ID, model, fallbackFor: null, childId };
  recorder.record({ kind: 'step-started', ...begun, at: startedAt });
  try {
    const known = sees.map((seen) => ({ subtask: seen.subtask, output: seen.output }));
    const share = await context.limits.share(unfinishedParts(context));
    const { trace, problem } = await runChild(context, share, {
      childId,
      question: subtask,
      round: 0,
      step,
      background: [...background, ...known],
      summary: `step ${step + 1} · ${subtask.slice(0, SUMMARY_CHARACTERS).replace(/\s+/g, ' ')}`,
    });
    if (problem !== null) {
      fail(problem);
      return;
    }
    const output = trace?.answer ?? '';
    recorder.record({ kind: 'step-answered', round, step, output, calls: [], dropped: [], startedAt, endedAt: now() });
  } catch (error) {
    fail(readCallFailure(error, CONDUCTOR_ID).problem);
  }

  function fail(problem: Problem): void {
    recorder.record({ kind: 'step-failed', round, step, problem, output: '', calls: [], dropped: [], endedAt: now() });
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
