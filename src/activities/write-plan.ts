import { ApplicationFailure } from '@temporalio/activity';
import { parsePlan } from '../plan/parse';
import { planContextOf } from '../plan/plan-context';
import { PlanError } from '../plan/plan-error';
import type { Plan, PlanContext } from '../plan/plan';
import { validatePlan } from '../plan/validate';
import { bindCheckpoint } from '../policy/bind-checkpoint';
import { resolveRun } from '../pool/resolve-run';
import type { WritePlanRequest, WritePlanResult } from '../protocol/activities';
import type { Call, Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import { mayCallItself } from '../protocol/recursion';
import { keepText, readText } from '../store/texts';
import { callModel } from './call-model';
import { conductorCall } from './conductor-call';
import type { Dependencies } from './dependencies';
import { firstAllowance } from './first-allowance';
import { UNTOLD_ALLOWANCE } from './model-call';

/**
 * Activity `conductor.writePlan`: shows the Conductor the question and the pool, and reads its plan.
 *
 * The first call of a run also resolves the configuration for all the others, and holds itself to its limits, since the
 * workflow cannot know them yet. A reply that is no plan is data, not a failure: it was paid for, and the workflow
 * decides whether to have it repaired.
 *
 * @throws ApplicationFailure of a `Provider.*` type, see `callModel`; `Configuration.Invalid`; `Limit.*` by a first
 *   call; `Plan.Invalid` for a plan that was given and is none
 */
export async function writePlan(
  dependencies: Dependencies,
  request: WritePlanRequest,
): Promise<WritePlanResult> {
  const { store, config } = dependencies;
  const run = request.run ?? (await bindCheckpoint(store, config, resolveRun(config, request)));
  const question = await readText(store, request.question);
  const resolved = request.run === undefined ? { run, question: await keepText(store, question) } : undefined;
  // What the workflow will know from now on.
  const told = resolved === undefined ? request : { ...request, mayCallItself: mayCallItself(run, 0) };
  const context = planContextOf(run, request.round, told.mayCallItself === true);
  if (request.given !== undefined) {
    const plan = checkGiven(request.given, context);
    return { plan, problem: null, reply: '', calls: [], dropped: [], ...resolved };
  }

  const allowance = request.allowance ?? (resolved ? firstAllowance(told, run, resolved) : UNTOLD_ALLOWANCE);
  const call = await conductorCall(dependencies, told, { run, question, context, allowance });
  const answer = await callModel(dependencies, { ...call, ...(resolved && { resolved }) });
  const reading = readPlan(await readText(store, answer.output), context);
  return {
    ...reading,
    reply: answer.output,
    calls: answer.calls.map((each, index) =>
      noteProblem(each, index === answer.calls.length - 1, reading.problem),
    ),
    dropped: answer.dropped,
    ...resolved,
  };
}

function checkGiven(given: Plan, context: PlanContext): Plan {
  try {
    return validatePlan(given, context);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, FAILURES.planInvalid);
  }
}

function readPlan(reply: string, context: PlanContext): { plan: Plan | null; problem: Problem | null } {
  try {
    return { plan: parsePlan(reply, context), problem: null };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return { plan: null, problem: { type: FAILURES.planInvalid, message: error.message } };
  }
}

/** The call that brought an invalid plan says so in the trace, though its provider did nothing wrong. */
function noteProblem(call: Call, isLast: boolean, problem: Problem | null): Call {
  return isLast && problem !== null ? { ...call, error: problem } : call;
}
