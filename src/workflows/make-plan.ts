import { ApplicationFailure } from '@temporalio/workflow';
import type { CallReservation } from '../budget/account';
import { estimatePlan } from '../budget/estimate-plan';
import { conductorPromptBytes } from '../budget/prompt-bytes';
import { worstCaseOf } from '../budget/worst-case';
import type { Plan, PlanContext } from '../plan/plan';
import type {
  FailedReply,
  PlanningRun,
  WritePlanRequest,
  WritePlanResult,
} from '../protocol/activity-contract';
import type { ResolvedRun, RunWorker } from '../protocol/cards';
import { FAILURES, isMisconfigured } from '../protocol/failures';
import { CONDUCTOR_ID, WRITE_PLAN } from '../protocol/names';
import {
  asksApproval,
  keptOutputs,
  planContextOf,
  standInPlan,
  takesConfigured,
  toolsToldOf,
} from '../protocol/planning';
import type { Text } from '../protocol/text';
import { describeUsd } from '../trace/describe';
import { modelActivities } from './activities';
import { checkPlan, isOwnCancellation, mayRetryBilled, now, readCallFailure } from './failures';
import { mayRecurse, type RunContext } from './run-context';
import type { PlanVerdict } from './steering';
import { type CallFailure, conductorCalled, readFailure } from '../trace/events';

/** How often the Conductor is shown the faults of its plan before the run continues without it. */
const MAX_REPAIRS = 2;
/** How often a Conductor call that may have been billed without an answer is repeated. */
const MAX_PAID_RETRIES = 1;

/**
 * Returns the plan that the run carries out. The input gives it, or the Conductor writes it; if the run asks for
 * approval, a person then approves, edits or rejects it.
 * @throws ApplicationFailure of type `Limit.Approval` if no one decided in time, `Limit.Cost` if the plan may cost
 *   more than the run was given, `Plan.Invalid` if a given plan breaks a rule; otherwise as `obtainPlan`
 */
export async function settlePlan(context: RunContext): Promise<Plan> {
  const { input, depth } = context;
  const rejected: FailedReply[] = [];
  let obtained = input.given ? takeGiven(context, input.given.plan) : await obtainPlan(context);
  for (;;) {
    const { plan, reply } = obtained;
    if (plan.steps.length === 0) return plan;
    recordKnown(context, plan);
    const verdict = asksApproval(input, depth) ? await askPerson(context, plan) : { plan };
    if ('plan' in verdict) {
      refuseIfTooDear(context, verdict.plan);
      return verdict.plan;
    }
    rejected.push({ reply, problem: { type: FAILURES.planRejected, message: verdict.reason } });
    obtained = await obtainPlan(context, rejected);
  }
}

interface ObtainedPlan {
  readonly plan: Plan;
  readonly reply: Text;
}

function takeGiven(context: RunContext, given: Plan): ObtainedPlan {
  const { recorder, round, depth } = context;
  recorder.record({ kind: 'plan-asked', round, depth, isGiven: true });
  const plan = checkPlan(given, rulesOf(context));
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  return { plan, reply: '' };
}

function rulesOf(context: RunContext): PlanContext {
  const { run, limits, round } = context;
  return planContextOf({ ...run, limits: limits.current }, round, mayRecurse('worker', context));
}

async function askPerson(context: RunContext, plan: Plan): Promise<PlanVerdict> {
  const { approval, limits, recorder, round } = context;
  recorder.record({ kind: 'approval-asked', round, at: now() });
  const verdict = await approval.ask({ plan, rules: () => rulesOf(context) }, limits);
  if (verdict === null) {
    const seconds = limits.current.approvalMs / 1000;
    const message = `no one decided on the plan within ${seconds} s; raise limits.approval, or run without approval`;
    throw limits.stopBy('approval', message);
  }
  recorder.record({ kind: 'approval-ended', round, at: now() });
  if ('plan' in verdict && verdict.plan !== plan) {
    recorder.record({ kind: 'planned', round, plan: verdict.plan, degraded: false });
    recordKnown(context, verdict.plan);
  }
  return verdict;
}

/** Records what is known of a plan before it runs: the most that it may use, and the outputs kept of an earlier run. */
function recordKnown(context: RunContext, plan: Plan): void {
  const { recorder, run, input, round } = context;
  recorder.record({ kind: 'estimated', estimate: estimateOf(context, plan, run) });
  for (const [step, output] of keptOutputs(input, plan).entries()) {
    if (output !== null) recorder.record({ kind: 'step-kept', round, step, output });
  }
}

function estimateOf(context: RunContext, plan: Plan, run: ResolvedRun): ReturnType<typeof estimatePlan> {
  const { input } = context;
  const { maxAnswerTokens } = input;
  return estimatePlan(plan, run, { ...context, maxAnswerTokens, kept: keptOutputs(input, plan) });
}

/**
 * Compares a cost limit that a person set for this run with the estimate, before any of the plan is paid for. Calls of
 * tools are left out: a model is asked without them once what follows a call could not be paid for.
 */
function refuseIfTooDear(context: RunContext, plan: Plan): void {
  const { input, limits, run } = context;
  if (typeof input.limits?.costUsd !== 'number') return;
  const { toolset, ...plain } = run;
  const { nanoUsd } = estimateOf(context, plan, toolset === undefined ? run : plain);
  if (!limits.isTooDear(nanoUsd)) return;
  const limit = limits.current.nanoUsd ?? 0;
  const message =
    `the plan may cost up to ${describeUsd((nanoUsd ?? 0) / 1e9)}, which, added to what is already spent, exceeds ` +
    `this run's limit of ${describeUsd(limit / 1e9)}; raise limits.costUsd (--max-cost), or lower the workers' maxOutputTokens`;
  throw limits.stopBy('cost', message);
}

/**
 * Asks the Conductor for a plan and shows it its mistakes. If all attempts fail, continues without it: one step for
 * the first worker of the pool, marked as degraded. A provider's failure never counts as a bad plan.
 * @param rejected plans that a person rejected, oldest first
 * @throws ApplicationFailure of a `Limit.*` type, or `Configuration.Invalid` if the Conductor as configured cannot be
 *   asked; in a review, where there is an answer already, of the type that the last attempt failed with
 */
export async function obtainPlan(
  context: RunContext,
  rejected: readonly FailedReply[] = [],
): Promise<ObtainedPlan> {
  const { recorder, round, depth, limits } = context;
  /** Replies to show the Conductor again: rejected plans first, then replies that were not plans. */
  const repairs = [...rejected];
  let paidRetries = 0;
  for (;;) {
    const request = requestFor(context, repairs);
    recorder.record({ kind: 'plan-asked', round, depth, isGiven: takesConfigured(request), at: now() });
    const outcome = await askConductor(context, request);
    const obtained = planIn(outcome);
    if (obtained !== null) {
      recorder.record({ kind: 'planned', round, plan: obtained.plan, degraded: false });
      return obtained;
    }
    const stop = limits.reasonToStop();
    if (stop !== null) throw stop;
    if (!('plan' in outcome)) paidRetries += mayRetryBilled(outcome.problem) ? 1 : Infinity;
    else if (outcome.problem !== null) repairs.push({ reply: outcome.reply, problem: outcome.problem });
    const isGivenUp = repairs.length - rejected.length > MAX_REPAIRS || paidRetries > MAX_PAID_RETRIES;
    if (isGivenUp) return goWithout(context, outcome);
  }
}

function planIn(outcome: ConductorOutcome): ObtainedPlan | null {
  if (!('plan' in outcome) || outcome.plan === null) return null;
  return { plan: outcome.plan, reply: outcome.reply };
}

/** Uses the stand-in plan. A child does so even if the Conductor is misconfigured, to save what its parent paid for. */
function goWithout(
  { recorder, round, run, depth, input }: RunContext,
  { problem }: ConductorOutcome,
): ObtainedPlan {
  if (input.parent?.review !== undefined)
    throw ApplicationFailure.nonRetryable(problem?.message, problem?.type);
  if (depth === 0 && problem !== null && isMisconfigured(problem)) {
    const advice =
      'No worker was asked. "temporal-conductor pool check" tries the Conductor and each worker.';
    throw ApplicationFailure.nonRetryable(`${problem.message} ${advice}`, FAILURES.configuration);
  }
  const plan = standInPlan(run);
  recorder.record({ kind: 'planned', round, plan, degraded: true });
  return { plan, reply: '' };
}

function requestFor(context: RunContext, repairs: readonly FailedReply[]): WritePlanRequest {
  const { question, conversation, answerSchema, round, rootId, run, limits, background } = context;
  const { steering, input } = context;
  return {
    rootId,
    question,
    conversation,
    answerSchema,
    round,
    repairs: [...repairs],
    run: {
      conductor: run.conductor,
      workers: run.workers.map((worker) => describedTo(worker, run)),
      limits: { steps: limits.current.steps },
    },
    mayCallItself: mayRecurse('worker', context) || undefined,
    background: background.length > 0 ? background : undefined,
    review: input.parent?.review,
    hints: steering.hints.length > 0 ? [...steering.hints] : undefined,
    seed: input.seed,
    ...(input.live === true && { live: input.live }),
    storeId: run.storeId,
    traceparent: input.traceparent,
  };
}

type ConductorOutcome = WritePlanResult | CallFailure;

async function askConductor(context: RunContext, request: WritePlanRequest): Promise<ConductorOutcome> {
  const { run, limits, recorder } = context;
  const worst = worstCaseOf(run.conductor, conductorPromptBytes(request, run));
  let reservation: CallReservation;
  try {
    reservation = limits.reserve(worst) ?? (await limits.waitFor(() => limits.reserve(worst)));
  } catch (error) {
    return readCallFailure(error, CONDUCTOR_ID);
  }
  const what = request.review === undefined ? 'plan' : 'review';
  const summary = request.repairs.length === 0 ? what : `${what}, repair ${request.repairs.length}`;
  const activities = modelActivities(context, run.conductor, summary);
  const { allowance } = reservation;
  const conclude = (outcome: ConductorOutcome): ConductorOutcome => {
    const called = conductorCalled(request, outcome, now());
    reservation.settle(called.calls);
    recorder.record(called);
    return outcome;
  };
  try {
    // The history reader reads the plan and its round from this call (rule 1 of `client/trace-reader.ts`).
    return conclude(await activities[WRITE_PLAN]({ ...request, allowance }));
  } catch (error) {
    const failed = conclude(readFailure(error, CONDUCTOR_ID));
    if (isOwnCancellation(error)) throw error;
    return failed;
  }
}

/** Returns what the Conductor's prompt may tell of a worker. */
function describedTo(worker: RunWorker, run: ResolvedRun): PlanningRun['workers'][number] {
  const { id, notes, price } = worker;
  const canCall = toolsToldOf(worker, run);
  const told = run.conductor.describe === 'notes+price' ? { id, notes, price } : { id, notes };
  return canCall === undefined ? told : { ...told, canCall };
}
