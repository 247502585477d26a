import { ApplicationFailure } from '@temporalio/workflow';
import type { Plan } from '../plan/plan';
import type { FailedReply, WritePlanRequest } from '../protocol/activities';
import type { ReviewedRound } from '../protocol/parent';
import type { ResolvedRun } from '../protocol/run';
import type { Text } from '../protocol/text';
import { askConductor, type Outcome } from './ask-conductor';
import { mayBeBoughtAgain } from './failure';
import { mayCallItself, type RunContext } from './run-context';

/** How often the Conductor is shown what was wrong with its plan before the run goes on without it. */
const MAX_REPAIRS = 2;
/** How often a Conductor call that may have been billed without an answer is made again. */
const MAX_REPURCHASES = 1;

/** What a plan is wanted for. */
export interface PlanWish {
  /** The answer that the plan is to improve, if there is one. */
  readonly review: ReviewedRound | undefined;
  /** Plans that a person rejected, oldest first. */
  readonly rejected: readonly FailedReply[];
  /** What the Conductor said already, in the call that resolved the configuration. */
  readonly first: Outcome | null;
}

/** A plan, and the words it was read from. */
export interface ObtainedPlan {
  readonly plan: Plan;
  readonly reply: Text;
}

/**
 * Asks the Conductor for a plan, shows it its mistakes, and in the end does without it: one step for the first worker
 * of the pool, marked as degraded. A provider's failure is never counted as a bad plan.
 *
 * @throws ApplicationFailure of a `Limit.*` type when the limits allow no call of the Conductor any more; in a review,
 *   where there is an answer already, of the type that the last try failed with
 */
export async function obtainPlan(context: RunContext, wish: PlanWish): Promise<ObtainedPlan> {
  const { recorder, round, depth, limits } = context;
  const tries: Tries = { repairs: [...wish.rejected], mended: 0, repurchases: 0 };
  recorder.record({ kind: 'plan-asked', round, depth });
  let outcome = wish.first ?? (await askConductor(context, requestFor(context, wish, tries)));
  while (!hasPlan(outcome)) {
    const stop = limits.reasonToStop();
    if (stop !== null) throw stop;
    if (!mayTryAgain(outcome, tries)) return goWithout(context, wish, outcome);
    outcome = await askConductor(context, requestFor(context, wish, tries));
  }
  const { plan, reply } = outcome;
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  return { plan, reply };
}

/** What was tried so far without a plan coming of it. */
interface Tries {
  /** All that the Conductor is shown again: rejected plans first, then replies that were none. */
  readonly repairs: FailedReply[];
  mended: number;
  repurchases: number;
}

type WithPlan = Extract<Outcome, { reply: Text }> & { readonly plan: Plan };

function hasPlan(outcome: Outcome): outcome is WithPlan {
  return 'plan' in outcome && outcome.plan !== null;
}

/** Notes what went wrong; true while the Conductor shall be asked once more. */
function mayTryAgain(outcome: Outcome, tries: Tries): boolean {
  if ('plan' in outcome) {
    if (outcome.problem !== null) tries.repairs.push({ reply: outcome.reply, problem: outcome.problem });
    tries.mended += 1;
    return tries.mended <= MAX_REPAIRS;
  }
  tries.repurchases += 1;
  return mayBeBoughtAgain(outcome.problem) && tries.repurchases <= MAX_REPURCHASES;
}

function requestFor(context: RunContext, { review }: PlanWish, { repairs }: Tries): WritePlanRequest {
  const { question, round, rootId, run, limits, background, steering, input } = context;
  const { seed } = input;
  return {
    rootId,
    question,
    round,
    repairs: [...repairs],
    run: { ...run, limits: limits.current },
    ...(mayCallItself(context) && { mayCallItself: true }),
    ...(background.length > 0 && { background }),
    ...(review && { review }),
    ...(steering.hints.length > 0 && { hints: [...steering.hints] }),
    ...(seed !== undefined && { seed }),
  };
}

function goWithout({ recorder, round, run }: RunContext, { review }: PlanWish, last: Outcome): ObtainedPlan {
  if (review !== undefined) throw ApplicationFailure.nonRetryable(last.problem?.message, last.problem?.type);
  const plan = standInPlan(run);
  recorder.record({ kind: 'planned', round, plan, degraded: true });
  return { plan, reply: '' };
}

function standInPlan({ workers }: ResolvedRun): Plan {
  const [best] = workers;
  if (best === undefined) throw ApplicationFailure.nonRetryable('the resolved pool is empty');
  return { steps: [{ worker: best.id, subtask: 'Answer the question completely.', sees: [] }] };
}
