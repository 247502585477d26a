import { conductorMessages } from '../plan/conductor-prompt';
import { planOutputSchema } from '../plan/output-schema';
import { parsePlan } from '../plan/parse';
import { PlanError } from '../plan/plan-error';
import type { Plan, PlanContext } from '../plan/plan';
import { resolveRun } from '../pool/resolve-run';
import type { WritePlanRequest, WritePlanResult } from '../protocol/activities';
import type { Call, Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import type { ResolvedRun } from '../protocol/run';
import { keepText, readText } from '../store/texts';
import { callModel } from './call-model';
import type { Dependencies } from './dependencies';
import type { ModelCall } from './model-call';

/**
 * Activity `conductor.writePlan`: shows the Conductor the question and the pool, and reads its plan.
 *
 * The first call of a run also resolves the configuration for all the others. A reply that is no plan is data, not a
 * failure: it was paid for, and the workflow decides whether to have it repaired.
 *
 * @throws ApplicationFailure of a `Provider.*` type, see `callModel`; `Configuration.Invalid`
 */
export async function writePlan(
  dependencies: Dependencies,
  request: WritePlanRequest,
): Promise<WritePlanResult> {
  const { store, config } = dependencies;
  const run = request.run ?? resolveRun(config, request);
  const question = await readText(store, request.question);
  const resolved = request.run === undefined ? { run, question: await keepText(store, question) } : undefined;
  const context = planContextOf(run, request.round);

  const call = await conductorCall(dependencies, request, { run, question, context });
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

function planContextOf({ workers, limits }: ResolvedRun, round: number): PlanContext {
  return { workers: workers.map(({ id }) => id), maxSteps: limits.steps, round };
}

async function conductorCall(
  { store }: Dependencies,
  { round, repairs, seed, rootId }: WritePlanRequest,
  { run, question, context }: { run: ResolvedRun; question: string; context: PlanContext },
): Promise<ModelCall> {
  const { conductor: card, workers } = run;
  const withSchema = card.capabilities.jsonSchema;
  const failedReplies = await Promise.all(
    repairs.map(async ({ reply, problem }) => ({
      reply: await readText(store, reply),
      problem: problem.message,
    })),
  );
  return {
    purpose: repairs.length === 0 ? 'plan' : 'repair',
    round,
    step: null,
    worker: 'conductor',
    card,
    messages: conductorMessages({
      question,
      workers,
      describe: card.describe,
      maxSteps: context.maxSteps,
      format: withSchema ? 'json' : 'lists',
      repairs: failedReplies,
    }),
    maxOutputTokens: card.maxOutputTokens,
    // The first call begins before the workflow can know the run's wall clock, so it is bounded here.
    timeoutMs: Math.min(card.timeoutMs, run.limits.wallClockMs),
    ...(withSchema && {
      outputSchema: planOutputSchema(context, card.provider === 'local' ? 'grammar' : 'vendor'),
    }),
    ...(seed !== undefined && { seed }),
    ...(rootId !== undefined && { rootId }),
  };
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
