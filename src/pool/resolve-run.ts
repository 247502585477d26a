import type { LimitsInput, PoolFilter } from '../protocol/activities';
import type { ResolvedRun } from '../protocol/run';
import { ConfigError } from './config-error';
import type { Config, WorkerConfig } from './config-schema';
import { durationMs, durationSchema } from './duration';
import { resolveConductor, resolveWorker } from './resolve-card';

/** What one run asks for beside its question. */
export interface RunWishes {
  readonly pool?: PoolFilter;
  readonly limits?: LimitsInput;
}

/**
 * What a run keeps from its first call to its end: the cards it may use with every default filled in, and its limits,
 * which can only be narrower than the configured ones.
 *
 * @param day when prices shall hold; today unless a test knows better
 * @throws ConfigError for an unknown worker, an empty pool or a wall clock that is no duration
 */
export function resolveRun(config: Config, { pool, limits }: RunWishes = {}, day = new Date()): ResolvedRun {
  const members = membersOf(config.workers, pool);
  const allowed = new Set(members.map(({ id }) => id));
  return {
    conductor: resolveConductor(config.conductor, day),
    workers: members.map((member) => {
      const card = resolveWorker(member, day);
      return { ...card, fallback: card.fallback.filter((id) => allowed.has(id)) };
    }),
    limits: {
      steps: Math.min(config.limits.steps, limits?.steps ?? Infinity),
      wallClockMs: Math.min(durationMs(config.limits.wallClock), askedMs(limits?.wallClock)),
    },
    heartbeatMs: durationMs(config.temporal.heartbeat),
  };
}

function membersOf(workers: readonly WorkerConfig[], { allow, deny = [] }: PoolFilter = {}): WorkerConfig[] {
  const ids = workers.map(({ id }) => id);
  const unknown = [...(allow ?? []), ...deny].filter((id) => !ids.includes(id));
  if (unknown.length > 0) {
    throw new ConfigError(
      `the pool has no worker ${unknown.map((id) => JSON.stringify(id)).join(', ')}: name some of ${ids.join(', ')}`,
    );
  }
  const left = workers.filter(({ id }) => (allow?.includes(id) ?? true) && !deny.includes(id));
  if (left.length === 0) {
    throw new ConfigError(`the run may use no worker at all: allow some of ${ids.join(', ')}, or deny fewer`);
  }
  return left;
}

function askedMs(wallClock: string | undefined): number {
  if (wallClock === undefined) return Infinity;
  const { success, data } = durationSchema.safeParse(wallClock);
  if (success) return durationMs(data);
  throw new ConfigError(
    `limits.wallClock is ${JSON.stringify(wallClock)}: expected a duration such as 90s, 30m or 2h`,
  );
}
