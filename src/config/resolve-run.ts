import type { ResolvedRun, RunLimits, RunWorker } from '../protocol/cards';
import type { LimitsInput, PoolFilter, SolveInput } from '../protocol/input';
import { nameOf, resolveConductor, resolveWorker } from './cards';
import type { Plan } from '../plan/plan';
import { PlanError, quoteBriefly } from '../plan/plan-error';
import { validatePlan } from '../plan/validate';
import { ConfigError, someOf } from './errors';
import type { Config } from './schema';
import { durationMs, isDuration } from './duration';

/**
 * Cards and limits that a run keeps from start to end, every default filled in; `day` is when prices must hold.
 * @throws ConfigError for an unknown worker, an empty pool, a wall clock that is no duration or an impossible plan
 */
export function resolveRun(
  config: Config,
  { pool, limits }: Pick<SolveInput, 'pool' | 'limits'> = {},
  day = new Date(),
): ResolvedRun {
  const conductor = resolveConductor(config.conductor, day);
  const run = narrowRun(
    {
      conductor,
      workers: config.workers.map((worker) => resolveWorker(worker, day)),
      limits: configuredLimits(config.limits),
      recursion: config.recursion,
      heartbeatMs: durationMs(config.temporal.heartbeat),
      queuePerProvider: config.temporal.queuePerProvider,
    },
    { pool, limits },
  );
  if ('plan' in config.conductor && config.conductor.plan) checkPlan(config.conductor.plan, run);
  return run;
}

/** Narrows a run to some of its workers and to other limits; throws as `resolveRun`. */
export function narrowRun(
  run: ResolvedRun,
  { pool, limits = {} }: Pick<SolveInput, 'pool' | 'limits'>,
): ResolvedRun {
  const members = membersOf(run.workers, pool);
  const allowed = new Set(members.map(({ id }) => id));
  const workers = members.map((card) => ({
    ...card,
    fallback: card.fallback.filter((id) => allowed.has(id)),
  }));
  return { ...run, workers, limits: changedLimits(run.limits, limits) };
}

function checkPlan(plan: Plan, { workers, limits }: ResolvedRun): void {
  const context = { workers: workers.map(({ id }) => id), maxSteps: limits.steps, round: 0 };
  try {
    validatePlan(plan, context, { firstStep: 1 });
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    throw new ConfigError(`conductor.plan cannot be carried out: ${error.message}`, { cause: error });
  }
}

function configuredLimits({ costUsd, wallClock, approval, ...counts }: Config['limits']): RunLimits {
  const [wallClockMs, approvalMs] = [durationMs(wallClock), durationMs(approval)];
  return { ...counts, nanoUsd: nanoUsd(costUsd), wallClockMs, approvalMs };
}

function changedLimits(
  limits: RunLimits,
  { costUsd, wallClock, approval, ...counts }: LimitsInput,
): RunLimits {
  return {
    ...limits,
    ...counts,
    ...(costUsd !== undefined && { nanoUsd: nanoUsd(costUsd) }),
    ...(wallClock !== undefined && { wallClockMs: askedMs('wallClock', wallClock) }),
    ...(approval !== undefined && { approvalMs: askedMs('approval', approval) }),
  };
}

function nanoUsd(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * 1e9);
}

function membersOf(workers: readonly RunWorker[], { allow, deny = [] }: PoolFilter = {}): RunWorker[] {
  const ids = workers.map(({ id }) => id);
  const unknown = [...(allow ?? []), ...deny].filter((id) => !ids.includes(id));
  if (unknown.length > 0) {
    throw new ConfigError(
      `the pool has no worker ${someOf(unknown.map(quoteBriefly))}: name some of ${someOf(ids)}`,
    );
  }
  const left = workers.filter(({ id }) => (allow?.includes(id) ?? true) && !deny.includes(id));
  if (left.length > 0) return left;
  throw new ConfigError(`the run may use no worker at all: allow some of ${someOf(ids)}, or deny fewer`);
}

function askedMs(name: 'wallClock' | 'approval', asked: string): number {
  if (isDuration(asked)) return durationMs(asked);
  throw new ConfigError(
    `limits.${name} is ${quoteBriefly(asked)}: expected a duration such as 90s, 30m or 2h`,
  );
}

/** Sentences on what a configuration asks for and cannot have. */
export function noticesOf(config: Config): string[] {
  const { costUsd } = config.limits;
  const names = unpricedOf(resolveRun(config)).map(({ name }) => name);
  if (costUsd === null || names.length === 0) return [];
  return [
    `limits.costUsd ($${costUsd}) cannot be enforced: ${haveNoPrice(names)}. ` +
      'Give each a "price:"; calls and tokens still bind.',
  ];
}

/** A worker, or the Conductor (null), whose calls have an unknown cost, and the setting of the price that it lacks. */
export interface Unpriced {
  readonly name: string;
  readonly worker: string | null;
  readonly setting: string;
}

export function unpricedOf({ conductor, workers }: Pick<ResolvedRun, 'conductor' | 'workers'>): Unpriced[] {
  const unpriced = [conductor, ...workers].filter((card) => !('price' in card) || card.price === null);
  return unpriced.map((card) => ({
    name: nameOf(card),
    worker: 'id' in card ? card.id : null,
    setting: 'provider' in card ? PRICE_OF_TOKENS : '"price: { perCall }", in USD',
  }));
}

const PRICE_OF_TOKENS = '"price: { input, output }", in USD per million tokens';

/** `worker a (openai m) has no known price`. */
export function haveNoPrice(names: readonly string[]): string {
  return `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} no known price`;
}
