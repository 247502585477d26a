import { parsePlan } from '../plan/parse';
import type { Message, Plan, PlanContext } from '../plan/plan';
import { PlanError } from '../plan/plan-error';
import { conductorMessages } from '../plan/prompt/conductor';
import { planOutputSchema, renderPlan } from '../plan/render';
import { validatePlan } from '../plan/validate';
import { type Reserved, type WritePlanRequest, type WritePlanResult } from '../protocol/activity-contract';
import { FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID } from '../protocol/names';
import { planContextOf, purposeOf, takesConfigured } from '../protocol/planning';
import type { Store } from '../store/store';
import { keepText, readText } from '../store/texts';
import { readRunTask, readBackground } from './keep-input';
import { callModel } from './durable-call';
import { measureRepair } from './measure';
import type { Dependencies } from './send-request';

/**
 * Activity `conductor.writePlan`: shows the Conductor the question and the pool, and reads its plan. If the
 * configuration contains a plan, that is the first one, and the model only reviews it or writes another.
 *
 * An invalid plan is data, not a failure: it was paid for, and the workflow decides whether to have it repaired.
 * Throws as `callModel`.
 */
export async function writePlan(
  dependencies: Dependencies,
  request: Reserved<WritePlanRequest>,
): Promise<WritePlanResult> {
  const { store, config } = dependencies;
  const { round, seed, rootId, run, allowance } = request;
  const card = run.conductor;
  const { access, subtasks } = card;
  const context = { ...planContextOf(run, round, request.mayCallItself === true), access, subtasks };
  if (card.plan !== undefined && takesConfigured(request)) {
    return takeConfigured(store, card.plan, context);
  }
  const purpose = purposeOf(request);
  const { output, calls, dropped, endedAt } = await callModel(dependencies, {
    purpose,
    round,
    step: null,
    worker: CONDUCTOR_ID,
    card,
    messages: await messagesOf(store, request, context.maxSteps),
    maxOutputTokens: card.maxOutputTokens,
    timeoutMs: card.timeoutMs,
    allowance,
    outputSchema: card.capabilities.jsonSchema
      ? planOutputSchema(context, card.provider === 'local' ? 'grammar' : 'vendor')
      : undefined,
    seed,
    rootId,
    live: request.live,
  });
  const written = await readText(store, output);
  const { plan, problem } = readPlan(() => parsePlan(written, context));
  if (purpose === 'repair') measureRepair(config, card, plan !== null);
  // The trace marks the call that returned an invalid plan, though its provider did nothing wrong.
  const last = calls.length - 1;
  const noted = calls.map((call, index) =>
    problem !== null && index === last ? { ...call, error: problem } : call,
  );
  return { plan, problem, reply: output, calls: noted, dropped, endedAt };
}

/** Renders the configured plan as a reply of the Conductor, to show it later what a person rejected. */
async function takeConfigured(store: Store, given: Plan, context: PlanContext): Promise<WritePlanResult> {
  const { plan, problem } = readPlan(() => validatePlan(given, context));
  const reply = plan === null ? '' : renderPlan(plan, context.workers);
  return { plan, problem, reply: await keepText(store, reply), calls: [], dropped: [] };
}

function readPlan(read: () => Plan): Pick<WritePlanResult, 'plan' | 'problem'> {
  try {
    return { plan: read(), problem: null };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return { plan: null, problem: { type: FAILURES.planInvalid, message: error.message } };
  }
}

async function messagesOf(store: Store, request: WritePlanRequest, maxSteps: number): Promise<Message[]> {
  const { background = [], review, hints = [], repairs, run, mayCallItself } = request;
  const { conductor: card, workers } = run;
  return conductorMessages({
    style: card.prompt ?? 'full',
    examples: card.examples,
    workers,
    describe: card.describe,
    access: card.access,
    subtasks: card.subtasks,
    maxSteps,
    mayCallItself: mayCallItself === true,
    format: card.capabilities.jsonSchema ? 'json' : 'lists',
    ...(await readRunTask(store, request)),
    background: await readBackground(store, background),
    hints,
    repairs: await Promise.all(
      repairs.map(async ({ reply, problem }) => ({
        reply: await readText(store, reply),
        problem: problem.message,
        isRejected: problem.type === FAILURES.planRejected,
      })),
    ),
    review: review && { plan: review.plan, answer: await readText(store, review.answer) },
  });
}
