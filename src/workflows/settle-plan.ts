import { estimatePlan } from '../money/estimate';
import type { Plan, PlanContext } from '../plan/plan';
import { planContextOf } from '../plan/plan-context';
import type { FailedReply } from '../protocol/activities';
import { asksApproval } from '../protocol/approval';
import { FAILURES } from '../protocol/failures';
import type { Text } from '../protocol/text';
import { describeUsd } from '../trace/describe';
import { obtainPlan, type ObtainedPlan, type PlanWish } from './obtain-plan';
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
  { review, first }: Pick<PlanWish, 'review' | 'first'>,
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
