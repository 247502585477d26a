import { ApplicationFailure } from '@temporalio/activity';
import { Account } from '../budget/account';
import { describeLimit } from '../budget/amount';
import { conductorPromptBytes, worstCaseOf } from '../budget/worst-case';
import { resolveRun } from '../config/resolve-run';
import { planOutputSchema } from '../plan/render';
import { parsePlan } from '../plan/parse';
import type { Plan, PlanContext } from '../plan/plan';
import { PlanError } from '../plan/plan-error';
import { conductorMessages, type ConductorPrompt } from '../plan/prompt/conductor';
import { validatePlan } from '../plan/validate';
import {
  type Allowance,
  purposeOf,
  type WritePlanRequest,
  type WritePlanResult,
} from '../protocol/activities';
import type { Call, Problem } from '../protocol/call';
import { type CallFailureDetails, FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID } from '../protocol/names';
import { mayCallItself, planContextOf, type ResolvedRun } from '../protocol/run';
import { keepText, readText } from '../store/texts';
import { bindCheckpoint, servedPolicyOf } from '../training/policy/conductor';
import { callModel } from './call-model';
import { readBackground } from './call-worker';
import type { Dependencies } from './dependencies';
import { type ModelCall, UNTOLD_ALLOWANCE } from './model-call';

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

/** What a call of the Conductor needs besides its request. */
export interface ConductorCallContext {
  readonly run: ResolvedRun;
  readonly question: string;
  readonly context: PlanContext;
  readonly allowance: Allowance;
}

/** The call that asks the Conductor for a plan, or for its opinion on an answer. */
async function conductorCall(
  dependencies: Dependencies,
  request: WritePlanRequest,
  { run, question, context, allowance }: ConductorCallContext,
): Promise<ModelCall> {
  const { round, seed, rootId } = request;
  const { conductor: card, workers } = run;
  const withSchema = card.capabilities.jsonSchema;
  const policy = await servedPolicyOf(dependencies.store, card);
  return {
    purpose: purposeOf(request),
    round,
    step: null,
    worker: CONDUCTOR_ID,
    card,
    messages: conductorMessages({
      question,
      style: card.prompt ?? 'full',
      workers,
      describe: card.describe,
      maxSteps: context.maxSteps,
      mayCallItself: request.mayCallItself === true,
      format: withSchema ? 'json' : 'lists',
      ...(await readTexts(dependencies, request)),
    }),
    maxOutputTokens: card.maxOutputTokens,
    // The first call begins before the workflow can know the run's wall clock, so it is bounded here.
    timeoutMs: Math.min(card.timeoutMs, run.limits.wallClockMs),
    allowance,
    ...(withSchema && {
      outputSchema: planOutputSchema(context, card.provider === 'local' ? 'grammar' : 'vendor'),
    }),
    policy,
    seed,
    rootId,
    rollout: request.rollout,
  };
}

type ShownTexts = Pick<ConductorPrompt, 'background' | 'review' | 'hints' | 'repairs'>;

/** Everything that the Conductor is shown beside the question, whole. */
async function readTexts({ store }: Dependencies, request: WritePlanRequest): Promise<ShownTexts> {
  const { background = [], review, hints = [], repairs } = request;
  const failedReplies = await Promise.all(
    repairs.map(async ({ reply, problem }) => ({
      reply: await readText(store, reply),
      problem: problem.message,
      isRejected: problem.type === FAILURES.planRejected,
    })),
  );
  return {
    background: await readBackground(store, background),
    hints,
    repairs: failedReplies,
    ...(review && { review: { plan: review.plan, answer: await readText(store, review.answer) } }),
  };
}

/**
 * What the first call of a run may come to, by the limits that it has just resolved: the same reckoning as the
 * workflow's for all later ones.
 *
 * @throws ApplicationFailure of a `Limit.*` type where not even this call fits; nothing was sent then
 */
function firstAllowance(
  request: WritePlanRequest,
  run: ResolvedRun,
  resolved: ModelCall['resolved'],
): Allowance {
  const { conductor, limits } = run;
  const worst = worstCaseOf(conductor, conductorPromptBytes(request, run), conductor.maxOutputTokens);
  const answer = new Account(limits).reserve('first', worst);
  if ('requests' in answer) return answer;
  const now = new Date().toISOString();
  const details: CallFailureDetails = { calls: [], startedAt: now, endedAt: now, ...resolved };
  const type = { calls: FAILURES.callLimit, tokens: FAILURES.tokenLimit, cost: FAILURES.costLimit }[
    answer.limit
  ];
  const message = describeLimit(answer);
  throw ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}
