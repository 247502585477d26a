import { BadQuestionError, checkAsked, type SolveRequest } from '../../client';
import { ConfigError } from '../../config/errors';
import { resolveRun, unpricedOf } from '../../config/resolve-run';
import type { Config } from '../../config/schema';
import type { LimitsInput } from '../../protocol/input';
import { standInPlan } from '../../protocol/planning';
import { allowsModel, CONDUCTOR_MODEL, workerModel } from '../../protocol/rights';
import { readCheckpointId } from '../../training/names';
import { MOST_MESSAGE_BYTES } from '../limit-body';
import { noPrice } from '../access/hold-run';
import type { Key } from '../access/keys';
import { badRequest, Refusal } from '../refusal';
import type { SurfaceQuestion } from './surface-question';
import { withQuestionLast } from './request-turns';

/** Meaning of a model's name: the Conductor that writes the plan, or a plan of one worker. */
type ModelChoice = Pick<SolveRequest, 'pool' | 'given' | 'conductor' | 'limits'>;

const CHECKPOINT = /^conductor\/(.+)$/;
const WORKER = /^worker\/(.+)$/;

/** Returns the model names that a key may use, except those of checkpoints, which are not listed. */
export function modelNames({ workers }: Config, key: Key): string[] {
  const names = [CONDUCTOR_MODEL, ...workers.map(({ id }) => workerModel(id))];
  return names.filter((name) => allowsModel(key.models, name));
}

/** @throws Refusal if the model does not exist or the key may not use it */
export function readModel(name: string, key: Key, config: Config): ModelChoice {
  const choice = allowsModel(key.models, name) ? choiceOf(name, config) : null;
  if (choice !== null) return choice;
  const known = modelNames(config, key).join(', ');
  const shown = JSON.stringify(name.slice(0, 100));
  throw new Refusal(404, `this key has no model ${shown}: choose one of ${known}`, {
    reason: 'model_not_found',
    param: 'model',
  });
}

function choiceOf(name: string, config: Config): ModelChoice | null {
  if (name === CONDUCTOR_MODEL) return {};
  const checkpoint = CHECKPOINT.exec(name)?.[1];
  if (checkpoint !== undefined) return readCheckpointId(checkpoint) && { conductor: { checkpoint } };
  const named = WORKER.exec(name)?.[1];
  const worker = config.workers.find(({ id }) => id === named);
  if (worker === undefined) return null;
  const given = { plan: standInPlan({ workers: [worker] }), outputs: [null] };
  return { pool: { allow: [worker.id] }, given, limits: { depth: 0 } };
}

/** Returns a request with its model's meaning, which replaces what the request says. */
export function withModel(choice: ModelChoice, request: SolveRequest): SolveRequest {
  return { ...request, ...choice, limits: { ...request.limits, ...choice.limits } };
}

/** Returns a request for the worker that answers what coding agents ask beside their users; as it is if there is none. */
export function withSideWorker(config: Config, request: SolveRequest): SolveRequest {
  const { side } = config.gateway;
  const choice = side === undefined ? null : choiceOf(workerModel(side), config);
  return choice === null ? request : withModel(choice, request);
}

/** Returns the solve that a vendor's request asks for. @throws Refusal */
export function requestOf(config: Config, key: Key, asked: SurfaceQuestion): SolveRequest {
  const { model, messages, answerSchema, maxAnswerTokens, seed } = asked;
  const { plan, pool, max_steps: steps, max_depth: depth, max_cost_usd: costUsd } = asked.extension;
  const choice = readModel(model, key, config);
  if (choice.given !== undefined && (plan !== undefined || pool !== undefined)) {
    const message = `model ${model} is a single worker with a fixed pool and plan: leave out conductor.pool and conductor.plan`;
    throw badRequest(message, 'conductor');
  }
  const limits: LimitsInput = {
    ...limitsOfEffort(asked.effort, config.limits.steps),
    ...(steps !== undefined && { steps }),
    ...(depth !== undefined && { depth }),
    ...(costUsd !== undefined && { costUsd }),
  };
  return withModel(choice, {
    messages: withQuestionLast(messages),
    ...functionsOf(asked),
    answerSchema,
    maxAnswerTokens,
    seed,
    pool,
    limits,
    ...(typeof plan === 'object' && { given: { plan, outputs: plan.steps.map(() => null) } }),
    ...(plan === 'approve' && { approval: 'plan' }),
  });
}

function functionsOf({
  functions: { tools, isDemanded },
  extension,
}: SurfaceQuestion): Pick<SolveRequest, 'tools' | 'toolSteps' | 'toolChoice'> {
  if (tools.length === 0) return {};
  return {
    tools,
    ...(extension.tools === 'last' && { toolSteps: 'last' }),
    ...(isDemanded && { toolChoice: 'required' }),
  };
}

/** Returns the limits that match the requested reasoning effort: a low one asks for less than the operator allows. */
function limitsOfEffort(effort: string | undefined, steps: number): LimitsInput {
  const isLow = effort !== undefined && ['none', 'minimal', 'low'].includes(effort);
  return isLow ? { depth: 0, steps: Math.min(2, steps) } : {};
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
