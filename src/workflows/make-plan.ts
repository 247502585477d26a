import { ApplicationFailure } from '@temporalio/workflow';
import { conductorPromptBytes, estimatePlan, type WorstCase, worstCaseOf } from '../budget/worst-case';
import type { Plan, PlanContext } from '../plan/plan';
import type { FailedReply, ReviewedRound, WritePlanRequest, WritePlanResult } from '../protocol/activities';
import { FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID, WRITE_PLAN } from '../protocol/names';
import { planContextOf, type ResolvedRun } from '../protocol/run';
import { asksApproval } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { describeUsd } from '../trace/describe';
import { type CallFailure, conductorCalled } from '../trace/events';
import { modelActivities, type CallOptions, queueFor } from './activities';
import { mayRetryBilled, readCallFailure } from './failures';
import type { Reservation } from './limits';
import { mayCallItself, type RunContext } from './run-context';

/**
 * The plan that is to be run: what the Conductor wrote, as a person approved, edited or had it written anew where the
 * run asks for that. What it may cost at most is told before anybody is asked.
 *
 * @throws ApplicationFailure of type `Limit.Approval` when nobody decided in time, `Limit.Cost` when the plan may cost
 *   more than the run was given; others as `obtainPlan`
 */
export async function settlePlan(
  context: RunContext,
  { review, first }: Pick<PlanOptions, 'review' | 'first'>,
): Promise<Plan> {
  const rejected: FailedReply[] = [];
  for (;;) {
    const obtained = await obtainPlan(context, {
      review,
      rejected,
      first: rejected.length === 0 ? first : null,
    });
    if (obtained.plan.steps.length === 0) return obtained.plan;
    tellEstimate(context, obtained.plan);
    const decision = asksApproval(context.input, context.depth)
      ? await askPerson(context, obtained)
      : obtained;
    if ('plan' in decision) {
      refuseIfTooDear(context);
      return decision.plan;
    }
    rejected.push(decision.rejected);
  }
}

type Decision = { readonly plan: Plan } | { readonly rejected: FailedReply };

async function askPerson(context: RunContext, { plan, reply }: ObtainedPlan): Promise<Decision> {
  const { approval, limits, recorder, round, run } = context;
  recorder.record({ kind: 'approval-asked' });
  const rules = (): PlanContext =>
    planContextOf({ ...run, limits: limits.current }, round, mayCallItself(context));
  const verdict = await approval.ask(rules, limits);
  if (verdict === null) throw limits.stopBy('approval', nobodyDecided(limits.current.approvalMs));
  switch (verdict.kind) {
    case 'approved':
      return { plan };
    case 'edited':
      recorder.record({ kind: 'planned', round, plan: verdict.plan, degraded: false });
      tellEstimate(context, verdict.plan);
      return { plan: verdict.plan };
    case 'rejected':
      return { rejected: rejectionOf(reply, verdict.reason) };
  }
}

function rejectionOf(reply: Text, reason: string): FailedReply {
  return { reply, problem: { type: FAILURES.planRejected, message: reason } };
}

function tellEstimate({ recorder, run, question, background }: RunContext, plan: Plan): void {
  recorder.record({ kind: 'estimated', estimate: estimatePlan(plan, run, question, background) });
}

/** A cost limit that a person gave for this very run is held against the estimate, before anything of it is spent. */
function refuseIfTooDear({ input, limits, recorder }: RunContext): void {
  const asked = input.limits?.costUsd;
  const { nanoUsd = null } = recorder.trace.estimate ?? {};
  if (asked === undefined || asked === null || !limits.isTooDear(nanoUsd)) return;
  throw limits.stopBy('cost', tooDear(nanoUsd ?? 0, limits.current.nanoUsd ?? 0));
}

function tooDear(nanoUsd: number, limit: number): string {
  return (
    `the plan may cost up to ${describeUsd(nanoUsd / 1e9)} beside what is spent already, more than the ` +
    `${describeUsd(limit / 1e9)} that this run was given; raise limits.costUsd (--max-cost), or lower the workers' maxOutputTokens`
  );
}

function nobodyDecided(approvalMs: number): string {
  return `nobody decided on the plan within ${approvalMs / 1000} s; raise limits.approval, or run without approval`;
}

/** How often the Conductor is shown what was wrong with its plan before the run goes on without it. */
const MAX_REPAIRS = 2;
/** How often a Conductor call that may have been billed without an answer is made again. */
const MAX_PAID_RETRIES = 1;

/** What a plan is wanted for. */
export interface PlanOptions {
  /** The answer that the plan is to improve, if there is one. */
  readonly review: ReviewedRound | undefined;
  /** Plans that a person rejected, oldest first. */
  readonly rejected: readonly FailedReply[];
  /** What the Conductor said already, in the call that resolved the configuration. */
  readonly first: ConductorOutcome | null;
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
export async function obtainPlan(context: RunContext, wish: PlanOptions): Promise<ObtainedPlan> {
  const { recorder, round, depth, limits } = context;
  const tries: Tries = { repairs: [...wish.rejected], mended: 0, paidRetries: 0 };
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
  paidRetries: number;
}

type WithPlan = Extract<ConductorOutcome, { reply: Text }> & { readonly plan: Plan };

function hasPlan(outcome: ConductorOutcome): outcome is WithPlan {
  return 'plan' in outcome && outcome.plan !== null;
}

/** Notes what went wrong; true while the Conductor shall be asked once more. */
function mayTryAgain(outcome: ConductorOutcome, tries: Tries): boolean {
  if ('plan' in outcome) {
    if (outcome.problem !== null) tries.repairs.push({ reply: outcome.reply, problem: outcome.problem });
    tries.mended += 1;
    return tries.mended <= MAX_REPAIRS;
  }
  tries.paidRetries += 1;
  return mayRetryBilled(outcome.problem) && tries.paidRetries <= MAX_PAID_RETRIES;
}

function requestFor(context: RunContext, { review }: PlanOptions, { repairs }: Tries): WritePlanRequest {
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
    review,
    ...(steering.hints.length > 0 && { hints: [...steering.hints] }),
    seed,
  };
}

function goWithout(
  { recorder, round, run }: RunContext,
  { review }: PlanOptions,
  last: ConductorOutcome,
): ObtainedPlan {
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

/** What came of one call of the Conductor: a plan, a reply that is none, or a failure. */
export type ConductorOutcome = WritePlanResult | CallFailure;

/** Asks the Conductor once, if the limits allow it, and books what that came to. */
async function askConductor(context: RunContext, request: WritePlanRequest): Promise<ConductorOutcome> {
  const { run, limits, recorder } = context;
  let reservation: Reservation;
  try {
    reservation = await limits.reserve(worstCaseOfPlan(request, run));
  } catch (error) {
    return readCallFailure(error, CONDUCTOR_ID);
  }
  const { heartbeatMs, conductor } = run;
  const patience = { remainingMs: limits.remainingMs(), heartbeatMs, ...queueFor(run, conductor) };
  const outcome = await sendToConductor({ ...request, allowance: reservation.allowance }, patience);
  const called = conductorCalled(request, outcome);
  reservation.settle(called.calls);
  recorder.record(called);
  return outcome;
}

/** The call itself. */
export async function sendToConductor(
  request: WritePlanRequest,
  patience: Omit<CallOptions, 'summary'>,
): Promise<ConductorOutcome> {
  const conductor = modelActivities({ ...patience, summary: summaryOf(request) });
  try {
    return await conductor[WRITE_PLAN](request);
  } catch (error) {
    return readCallFailure(error, CONDUCTOR_ID);
  }
}

/** What one request of the Conductor's may come to. */
export function worstCaseOfPlan(request: WritePlanRequest, run: ResolvedRun): WorstCase {
  const { conductor } = run;
  return worstCaseOf(conductor, conductorPromptBytes(request, run), conductor.maxOutputTokens);
}

function summaryOf({ repairs, review, given }: WritePlanRequest): string {
  if (given !== undefined) return 'check the given plan';
  const what = review === undefined ? 'plan' : 'review';
  return repairs.length === 0 ? what : `${what}, repair ${repairs.length}`;
}
