import { conductorMessages, type ConductorPrompt } from '../plan/conductor-prompt';
import { planOutputSchema } from '../plan/output-schema';
import type { PlanContext } from '../plan/plan';
import { servedPolicyOf } from '../policy/bind-checkpoint';
import type { Allowance, WritePlanRequest } from '../protocol/activities';
import { FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID } from '../protocol/names';
import { purposeOf } from '../protocol/purpose';
import type { ResolvedRun } from '../protocol/run';
import { readText } from '../store/texts';
import type { Dependencies } from './dependencies';
import type { ModelCall } from './model-call';
import { readBackground } from './read-background';

/** What a call of the Conductor needs besides its request. */
export interface ConductorCallContext {
  readonly run: ResolvedRun;
  readonly question: string;
  readonly context: PlanContext;
  readonly allowance: Allowance;
}

/** The call that asks the Conductor for a plan, or for its opinion on an answer. */
export async function conductorCall(
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
    ...(policy && { policy }),
    ...(seed !== undefined && { seed }),
    ...(rootId !== undefined && { rootId }),
    ...(request.rollout && { rollout: request.rollout }),
  };
}

type Told = Pick<ConductorPrompt, 'background' | 'review' | 'hints' | 'repairs'>;

/** Everything that the Conductor is shown beside the question, whole. */
async function readTexts({ store }: Dependencies, request: WritePlanRequest): Promise<Told> {
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
