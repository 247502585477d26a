import { BadQuestionError, checkAsked } from '../../client/asked';
import type { SolveRequest } from '../../client/conductor-client';
import { ConfigError } from '../../config/errors';
import { haveNoPrice, resolveRun, unpricedOf } from '../../config/resolve-run';
import type { Config } from '../../config/schema';
import type { LimitsInput } from '../../protocol/input';
import { MOST_MESSAGE_BYTES } from '../access/body-limit';
import { type Asked, limitsOfEffort } from './asked';
import type { ModelChoice } from './model-names';
import { badRequest, Refusal } from '../refusal';

/** Returns the solve that a vendor's request asks for. */
export function requestOf(config: Config, asked: Asked, choice: ModelChoice): SolveRequest {
  const { extension, messages, answerSchema, maxAnswerTokens, seed } = asked;
  const { plan, pool } = extension;
  if (choice.given !== undefined && (plan !== undefined || pool !== undefined)) {
    const message = `model ${asked.model} is a single worker with a fixed pool and plan: leave out conductor.pool and conductor.plan`;
    throw badRequest(message, 'conductor');
  }
  const limits: LimitsInput = {
    ...limitsOfEffort(asked.effort, config.limits.depth),
    ...(extension.max_steps !== undefined && { steps: extension.max_steps }),
    ...(extension.max_depth !== undefined && { depth: extension.max_depth }),
    ...choice.limits,
    ...costLimit(config, extension.max_cost_usd),
  };
  const given = typeof plan === 'object' ? { plan, outputs: plan.steps.map(() => null) } : choice.given;
  return {
    messages,
    answerSchema,
    maxAnswerTokens,
    seed,
    pool: choice.pool ?? pool,
    limits,
    conductor: choice.conductor,
    ...(given !== undefined && { given }),
    ...(plan === 'approve' && { approval: 'plan' }),
  };
}

/** Caps a cost limit: callers may lower the operator's limit, not raise it. @param asked null: no limit */
export function costLimit({ limits }: Config, asked: number | null | undefined): LimitsInput {
  if (asked === undefined) return {};
  const most = limits.costUsd;
  return { costUsd: most === null || asked === null ? (asked ?? most) : Math.min(asked, most) };
}

/** @throws Refusal if the question, plan, pool or limits are invalid */
export function checkRequest(config: Config, request: SolveRequest): void {
  const { pool, limits, given } = request;
  if (Buffer.byteLength(JSON.stringify({ pool, given })) > MOST_MESSAGE_BYTES) {
    const message = `the plan and the pool are longer than ${MOST_MESSAGE_BYTES} bytes together: shorten them`;
    throw new Refusal(413, message, { reason: 'too_large', param: 'conductor' });
  }
  try {
    checkAsked(request);
    const unpriced = unpricedOf(resolveRun(config, { pool, limits }));
    if (typeof limits?.costUsd === 'number' && unpriced.length > 0) throw noPrice('a cost limit', unpriced);
  } catch (error) {
    if (error instanceof BadQuestionError) throw badRequest(error.message, 'messages');
    if (error instanceof ConfigError) throw badRequest(error.message, 'conductor');
    throw error;
  }
}

export function noPrice(what: string, unpriced: readonly { readonly name: string }[]): Refusal {
  const names = haveNoPrice(unpriced.map(({ name }) => name));
  const remedy = 'leave it out of the pool, or have the operator give it a price';
  return badRequest(`${what} cannot be enforced: ${names}; ${remedy}`, 'conductor', 'price_unknown');
}
