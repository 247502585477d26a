import { parsePlan } from '../plan/parse';
import type { Plan, PlanContext } from '../plan/plan';
import { PlanError } from '../plan/plan-error';
import { conductorMessages, type ConductorPrompt } from '../plan/prompt/conductor';
import {
  purposeOf,
  type Reserved,
  type WritePlanRequest,
  type WritePlanResult,
} from '../protocol/activities';
import type { Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID } from '../protocol/names';
import { planContextOf } from '../protocol/run';
import { readText } from '../store/texts';
import { callModel } from './call-model';
import { readBackground } from './call-worker';
import type { Dependencies } from './dependencies';
import type { ModelCall } from './model-call';
import { planOutputSchema } from '../plan/render';

/**
 * Activity `conductor.writePlan`: shows the Conductor the question and the pool, and reads its plan.
 *
 * A reply that is no plan is data, not a failure: it was paid for, and the workflow decides whether to have it repaired.
 *
 * @throws ApplicationFailure of a `Provider.*` type, see `callModel`
 */
export async function writePlan(
  dependencies: Dependencies,
  request: Reserved<WritePlanRequest>,
): Promise<WritePlanResult> {
  const context = planContextOf(request.run, request.round, request.mayCallItself === true);
  const { output, calls, dropped } = await callModel(
    dependencies,
    await conductorCall(dependencies, request, context),
  );
  const reading = readPlan(await readText(dependencies.store, output), context);
  // The call that brought an invalid plan says so in the trace, though its provider did nothing wrong.
  const last = calls.length - 1;
  const error = reading.problem;
  const noted =
    error === null ? calls : calls.map((call, index) => (index === last ? { ...call, error } : call));
  return { ...reading, reply: output, calls: noted, dropped };
}

function readPlan(reply: string, context: PlanContext): { plan: Plan | null; problem: Problem | null } {
  try {
    return { plan: parsePlan(reply, context), problem: null };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return { plan: null, problem: { type: FAILURES.planInvalid, message: error.message } };
  }
}

/** The call that asks the Conductor for a plan, or for its opinion on an answer. */
async function conductorCall(
  dependencies: Dependencies,
  request: Reserved<WritePlanRequest>,
  context: PlanContext,
): Promise<ModelCall> {
  const { round, seed, rootId, run, allowance } = request;
  const { conductor: card, workers } = run;
  const withSchema = card.capabilities.jsonSchema;
  return {
    purpose: purposeOf(request),
    round,
    step: null,
    worker: CONDUCTOR_ID,
    card,
    messages: conductorMessages({
      style: card.prompt ?? 'full',
      workers,
      describe: card.describe,
      maxSteps: context.maxSteps,
      mayCallItself: request.mayCallItself === true,
      format: withSchema ? 'json' : 'lists',
      ...(await readTexts(dependencies, request)),
    }),
    maxOutputTokens: card.maxOutputTokens,
    timeoutMs: card.timeoutMs,
    allowance,
    ...(withSchema && {
      outputSchema: planOutputSchema(context, card.provider === 'local' ? 'grammar' : 'vendor'),
    }),
    seed,
    rootId,
  };
}

type ShownTexts = Pick<ConductorPrompt, 'question' | 'background' | 'review' | 'hints' | 'repairs'>;

/** Everything that the Conductor is shown of this run, whole. */
async function readTexts({ store }: Dependencies, request: WritePlanRequest): Promise<ShownTexts> {
  const { question, background = [], review, hints = [], repairs } = request;
  const failedReplies = await Promise.all(
    repairs.map(async ({ reply, problem }) => ({
      reply: await readText(store, reply),
      problem: problem.message,
      isRejected: problem.type === FAILURES.planRejected,
    })),
  );
  return {
    question: await readText(store, question),
    background: await readBackground(store, background),
    hints,
    repairs: failedReplies,
    ...(review && { review: { plan: review.plan, answer: await readText(store, review.answer) } }),
  };
}
