import { ESTIMATOR } from '../budget/worst-case';
import type { LimitsInput, PoolFilter, ResolveRunRequest } from '../protocol/activities';
import type { ResolvedRun, RunLimits } from '../protocol/run';
import { resolveConductor, resolveWorker } from './cards';
import type { Plan } from '../plan/plan';
import { PlanError, quoteBriefly } from '../plan/plan-error';
import { validatePlan } from '../plan/validate';
import { ConfigError, someOf } from './errors';
import type { Config, WorkerConfig } from './schema';
import { durationMs } from './duration';
import { durationSchema } from './settings';

/**
 * What a run keeps from start to end: the cards it may use, every default filled in, and its limits.
 *
 * @param day when prices must hold
 * @throws ConfigError for an unknown worker, an empty pool or a wall clock that is no duration
 */
export function resolveRun(
  config: Config,
  { pool, limits }: Pick<ResolveRunRequest, 'pool' | 'limits'> = {},
  day = new Date(),
): ResolvedRun {
  const members = membersOf(config.workers, pool);
  const allowed = new Set(members.map(({ id }) => id));
  const conductor = resolveConductor(config.conductor, day);
  const runLimits = limitsOf(config.limits, limits);
  if (conductor.plan !== undefined) checkPlan(conductor.plan, [...allowed], runLimits.steps);
  return {
    conductor,
    workers: members.map((member) => {
      const card = resolveWorker(member, day);
      return { ...card, fallback: card.fallback.filter((id) => allowed.has(id)) };
    }),
    limits: runLimits,
    recursion: config.recursion,
    heartbeatMs: durationMs(config.temporal.heartbeat),
    queuePerProvider: config.temporal.queuePerProvider,
    estimator: ESTIMATOR,
  };
}

function checkPlan(plan: Plan, workers: readonly string[], maxSteps: number): void {
  try {
    validatePlan(plan, { workers, maxSteps, round: 0 });
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    throw new ConfigError(`conductor.plan cannot be carried out: ${error.message}`, { cause: error });
  }
}

function limitsOf(configured: Config['limits'], asked: LimitsInput = {}): RunLimits {
  const { steps, depth, calls, tokens, costUsd, wallClock, approval } = { ...configured, ...asked };
  return {
    steps,
    depth,
    calls,
    tokens,
    nanoUsd: costUsd === null ? null : Math.round(costUsd * 1e9),
    wallClockMs: askedMs('wallClock', wallClock),
    approvalMs: askedMs('approval', approval),
  };
}

function membersOf(workers: readonly WorkerConfig[], { allow, deny = [] }: PoolFilter = {}): WorkerConfig[] {
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
  if (durationSchema.safeParse(asked).success) return durationMs(asked);
  throw new ConfigError(
    `limits.${name} is ${quoteBriefly(asked)}: expected a duration such as 90s, 30m or 2h`,
  );
}
