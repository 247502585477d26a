import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { BadQuestionError, checkAsked } from '../client/asked';
import type { SolveHandle, SolveRequest } from '../client/conductor-client';
import { isNotFound } from '../client/steer';
import { isPolled } from '../client/pollers';
import { ConfigError } from '../config/errors';
import { haveNoPrice, resolveRun, unpricedOf } from '../config/resolve-run';
import type { LimitsInput } from '../protocol/input';
import { type Asked, limitsOfEffort } from './asked';
import { noteAudit } from './audit';
import type { Env, Gateway } from './gateway';
import type { Key } from './keys';
import { type ModelChoice, readModel } from './model-names';
import { badRequest, Refusal } from './refusal';
import { readLastAsked, noteAsked } from './retried';

/** A request as it came, by which a repeated one is told from a new one. */
export interface Sent {
  readonly body: string;
  readonly path: string;
  readonly headers: Headers;
}

export interface Started extends SolveHandle {
  /** Whether this request started it; else it was under way, or over, and nothing more is paid. */
  readonly isNew: boolean;
}

export async function sentBy({ req }: Context<Env>): Promise<Sent> {
  return { body: await req.text(), path: req.path, headers: req.raw.headers };
}

/** The start of the ids of a key's solves, by which a key is held to its own. */
export function prefixOf({ id }: Pick<Key, 'id'>): string {
  return `gw-${id}-`;
}

export function mayTouch(key: Key, solveId: string): boolean {
  return key.isAdmin || solveId.startsWith(prefixOf(key));
}

/**
 * Starts the solve that a request asks for, or finds the one that an earlier attempt of the same request started.
 * @param memo kept with the run, for those who ask for it later
 * @throws Refusal
 */
export async function startSolve(
  gateway: Gateway,
  key: Key,
  asked: Asked,
  sent: Sent,
  memo: Readonly<Record<string, unknown>> & { readonly needsWorker?: false } = {},
): Promise<Started> {
  const choice = readModel(asked.model, key, gateway.config);
  const request = requestOf(gateway, asked, choice);
  const digest = digestOf(key.id, sent.path, sent.body);
  const { id, isRepeated } = await idOf(gateway, key, sent, digest);
  if (isRepeated) {
    const found = await find(gateway, id, digest);
    if (found !== null) return { ...found, isNew: false };
  }
  await requireWorker(gateway);
  const nanoUsd = await reserve(gateway, key, id, request);
  const limits = { ...request.limits, ...(nanoUsd !== null && { costUsd: nanoUsd / 1e9 }) };
  try {
    const handle = await gateway.conductor.start({ ...request, limits, live: true }, id, {
      memo: { ...memo, digest, model: asked.model },
    });
    await noteAudit(gateway.store, { keyId: key.id, keyName: key.name, action: 'start', target: id });
    return { ...handle, isNew: true };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) {
      const found = await find(gateway, id, digest);
      if (found !== null) return { ...found, isNew: false };
    }
    throw error;
  }
}

function requestOf(gateway: Gateway, asked: Asked, choice: ModelChoice): SolveRequest {
  const { extension, messages, answerSchema, maxAnswerTokens, seed } = asked;
  const { config } = gateway;
  const { plan, pool = choice.pool } = extension;
  const limits: LimitsInput = {
    ...limitsOfEffort(asked.effort, config.limits.depth),
    ...(extension.max_steps !== undefined && { steps: extension.max_steps }),
    ...(extension.max_depth !== undefined && { depth: extension.max_depth }),
    ...choice.limits,
    ...costLimit(config.limits.costUsd, extension.max_cost_usd),
  };
  const given = typeof plan === 'object' ? { plan, outputs: plan.steps.map(() => null) } : choice.given;
  const request: SolveRequest = {
    messages,
    answerSchema,
    maxAnswerTokens,
    seed,
    pool,
    limits,
    conductor: choice.conductor,
    ...(given !== undefined && { given }),
    ...(plan === 'approve' && { approval: 'plan' }),
  };
  checkQuestion(request);
  checkRun(gateway, request, extension.max_cost_usd !== undefined);
  return request;
}

function checkQuestion(request: SolveRequest): void {
  try {
    checkAsked(request);
  } catch (error) {
    if (error instanceof BadQuestionError) throw badRequest(error.message, 'messages');
    throw error;
  }
}

/** A caller may lower what the operator allows a question to cost, and not raise it. */
function costLimit(configured: number | null, asked: number | undefined): LimitsInput {
  if (asked === undefined) return {};
  return { costUsd: configured === null ? asked : Math.min(asked, configured) };
}

function checkRun({ config }: Gateway, { pool, limits }: SolveRequest, needsPrices: boolean): void {
  try {
    const unpriced = needsPrices ? unpricedOf(resolveRun(config, { pool, limits })) : [];
    if (unpriced.length === 0) return void resolveRun(config, { pool, limits });
    throw noPrice(
      'conductor.max_cost_usd',
      unpriced.map(({ name }) => name),
    );
  } catch (error) {
    if (error instanceof ConfigError) throw badRequest(error.message, 'conductor');
    throw error;
  }
}

function noPrice(what: string, names: readonly string[]): Refusal {
  const remedy = 'leave it out with conductor.pool, or have the operator give it a price';
  return badRequest(
    `${what} cannot be held to: ${haveNoPrice(names)}; ${remedy}`,
    'conductor',
    'price_unknown',
  );
}

/** Sets aside what a solve may cost of its key's budget for the day. @returns what it may cost; null: no limit of the key's */
async function reserve(
  gateway: Gateway,
  key: Key,
  id: string,
  { pool, limits }: SolveRequest,
): Promise<number | null> {
  if (key.usdPerDay === null) return null;
  const { config, budgets } = gateway;
  const unpriced = unpricedOf(resolveRun(config, { pool, limits }));
  if (unpriced.length > 0)
    throw noPrice(
      `the budget of key ${key.name}`,
      unpriced.map(({ name }) => name),
    );
  const usd = limits?.costUsd ?? config.limits.costUsd;
  return budgets.reserve(key, id, usd === null ? null : Math.round(usd * 1e9));
}

const WORKER_SECONDS = 5;

async function requireWorker({ temporal, config }: Gateway): Promise<void> {
  const { taskQueue } = config.temporal;
  if (await isPolled(temporal, taskQueue)) return;
  const remedy = 'start "temporal-conductor worker"';
  throw new Refusal(503, `no worker polls task queue ${taskQueue}: ${remedy}, and try again`, {
    reason: 'no_worker',
    retryAfterSeconds: WORKER_SECONDS,
  });
}

async function idOf(gateway: Gateway, key: Key, { headers }: Sent, digest: string) {
  const given = headers.get('idempotency-key');
  if (given !== null)
    return { id: `${prefixOf(key)}${digestOf(key.id, given).slice(0, 24)}`, isRepeated: true };
  const isRetry = Number(headers.get('x-stainless-retry-count') ?? 0) > 0;
  const last = isRetry ? await readLastAsked(gateway.store, key, digest) : null;
  if (last !== null) return { id: last, isRepeated: true };
  const id = `${prefixOf(key)}${randomBytes(12).toString('hex')}`;
  // Before anything is started: a repeated request finds it, whatever becomes of this one.
  await noteAsked(gateway.store, key, digest, id);
  return { id, isRepeated: false };
}

/** @throws Refusal where another request has the same idempotency key */
async function find({ conductor }: Gateway, id: string, digest: string): Promise<SolveHandle | null> {
  const found = await conductor.attach(id).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return null;
  });
  if (found === null) return null;
  if (found.memo.digest === digest) return found;
  const what = 'this Idempotency-Key was used for another request: use a new one for each';
  throw new Refusal(409, what, { reason: 'idempotency_key_reused' });
}

function digestOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
