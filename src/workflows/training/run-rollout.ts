import { ApplicationFailure } from '@temporalio/workflow';
import type { Plan } from '../../plan/plan';
import { FAILURES } from '../../protocol/failures';
import type { SolveTrace, StepTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import type { Rollout } from '../../training/rollout';
import { limitIn } from '../limit-failure';
import { obtainPlan } from '../obtain-plan';
import { lastOutputOf, runPlan } from '../run-plan';
import type { RunContext } from '../run-context';

/** What came of carrying out a plan, before anybody has judged it. */
export interface Outcome extends Pick<Rollout, 'plan' | 'answer' | 'usage' | 'nanoUsd'> {
  /** Why it says nothing about its plan: a provider failed, or a limit was reached. */
  readonly spoiltBy: string | null;
}

/** Failures that are the worker's own doing, so that its plan may be judged by them. */
const OWN_DOING: ReadonlySet<string> = new Set([FAILURES.truncated, FAILURES.refused]);

/** Carries out a sampled plan. Nothing is thrown but the group's own cancellation. */
export async function runSampled(context: RunContext, plan: Plan): Promise<Outcome> {
  const { recorder, round, depth } = context;
  recorder.record({ kind: 'plan-asked', round, depth });
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  return carryOut(context, plan);
}

/** Has the prompted Conductor write a plan as in any solve, repairs included, and carries it out. */
export async function runPrompted(context: RunContext): Promise<Outcome> {
  try {
    const { plan } = await obtainPlan(context, { review: undefined, rejected: [], first: null });
    return await carryOut(context, plan);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || limitIn(error.type ?? '') === null) throw error;
    return { ...notRun(null), plan: null, spoiltBy: error.message, ...costOf(context.recorder.trace) };
  }
}

async function carryOut(context: RunContext, plan: Plan): Promise<Outcome> {
  await runPlan(context, plan);
  const { trace } = context.recorder;
  return { plan, answer: lastOutputOf(context), spoiltBy: whatSpoilt(trace), ...costOf(trace) };
}

/** A plan whose text gave nothing to run. */
export function notRun(answer: Text | null): Omit<Outcome, 'plan'> {
  return {
    answer,
    spoiltBy: null,
    usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
    nanoUsd: 0,
  };
}

function whatSpoilt({ rounds }: SolveTrace): string | null {
  const steps = rounds.flatMap((round): readonly StepTrace[] => round.steps);
  const failed = steps.find(({ error }) => error !== null && !OWN_DOING.has(error.type));
  return failed?.error?.message ?? null;
}

function costOf({ usage, calls }: SolveTrace): Pick<Outcome, 'usage' | 'nanoUsd'> {
  const amounts = calls.map(({ nanoUsd }) => nanoUsd);
  const known = amounts.filter((amount) => amount !== null);
  const nanoUsd = known.length === amounts.length ? known.reduce((sum, amount) => sum + amount, 0) : null;
  return { usage, nanoUsd };
}
