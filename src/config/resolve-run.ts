import type { ConductorCard, ResolvedRun, RunLimits, RunWorker } from '../protocol/cards';
import type { LimitsInput, PoolFilter, SolveInput } from '../protocol/input';
import { conductorsOf, nameOfCard, resolveConductor, resolveWorker } from './cards';
import type { Plan } from '../plan/plan';
import { lowerLimits, mayPlan, mostOf, workersWithin } from '../protocol/rights';
import { PlanError, quoteBriefly } from '../plan/plan-error';
import { validatePlan } from '../plan/validate';
import { ConfigError, someOf } from './errors';
import type { Config, ConductorConfig } from './schema';
import { durationMs, isDuration } from './duration';
import { resolveToolset } from './tools';

/**
 * Returns the cards and limits that a run keeps from start to end, every default filled in; prices are those of `day`.
 * @throws ConfigError for an unknown worker or Conductor, an empty pool, an invalid duration or an impossible plan
 */
export function resolveRun(
  config: Config,
  { pool, limits, conductor: { name } = {} }: Pick<SolveInput, 'pool' | 'limits' | 'conductor'> = {},
  day = new Date(),
): ResolvedRun {
  const [place, section] = findConductor(config, name);
  const conductor = resolveConductor(section, day);
  const workers = config.workers.map((worker) => resolveWorker(worker, day));
  const toolset = resolveToolset(config, workers);
  const run = narrowRun(
    {
      conductor,
      workers,
      ...(toolset && { toolset }),
      limits: configuredLimits(config.limits),
      recursion: config.recursion,
      heartbeatMs: durationMs(config.temporal.heartbeat),
      queuePerProvider: config.temporal.queuePerProvider,
    },
    { pool, limits },
  );
  if ('plan' in section && section.plan) checkPlan(`${place}.plan`, section.plan, run);
  return run;
}

/** Returns the named Conductor, else the unnamed one, with its place in the configuration. @throws ConfigError */
function findConductor(config: Config, name: string | undefined): [string, ConductorConfig] {
  const all = conductorsOf(config);
  const found = all.find(([place]) => place === (name === undefined ? 'conductor' : `conductors.${name}`));
  if (found !== undefined) return found;
  const names = Object.keys(config.conductors);
  const remedy = names.length === 0 ? 'add it to "conductors:"' : `name one of ${someOf(names)}`;
  throw new ConfigError(`there is no Conductor ${quoteBriefly(name ?? '')}: ${remedy}`);
}

/** Restricts a run to some of its workers and changes its limits; throws as `resolveRun`. */
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

/**
 * Narrows a run to what the key behind it may use: some workers, and no limit above the key's.
 * @throws ConfigError if that leaves no worker, or the Conductor would have to be asked for a plan and may not be
 */
export function holdToRights(run: ResolvedRun, input: SolveInput): ResolvedRun {
  const most = mostOf(input);
  if (most === null) return run;
  if (!mayPlan(input) && input.given === undefined) {
    throw new ConfigError('the key of this run may not use its Conductor: give a plan of workers it may use');
  }
  const allow = workersWithin(input, run);
  if (allow.length === 0) throw new ConfigError('the key of this run may use none of its workers');
  const held = narrowRun(run, { pool: { allow } });
  return { ...held, limits: lowerLimits(held.limits, most) };
}

function checkPlan(place: string, plan: Plan, { workers, limits }: ResolvedRun): void {
  const context = { workers: workers.map(({ id }) => id), maxSteps: limits.steps, round: 0 };
  try {
    validatePlan(plan, context, { firstStep: 1 });
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    throw new ConfigError(`${place} cannot be carried out: ${error.message}`, { cause: error });
  }
}

function configuredLimits({
  steps,
  depth,
  calls,
  tokens,
  costUsd,
  wallClock,
  approval,
}: Config['limits']): RunLimits {
  const [wallClockMs, approvalMs] = [durationMs(wallClock), durationMs(approval)];
  return { steps, depth, calls, tokens, nanoUsd: nanoUsd(costUsd), wallClockMs, approvalMs };
}

/** Returns limits with some of them replaced. @throws ConfigError for an invalid duration */
export function changedLimits(
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
      `the pool has no worker ${someOf(unknown.map(quoteBriefly))}: choose from ${someOf(ids)}`,
    );
  }
  const left = workers.filter(({ id }) => (allow?.includes(id) ?? true) && !deny.includes(id));
  if (left.length > 0) return left;
  throw new ConfigError(
    `the filter leaves no worker for the run: allow some of ${someOf(ids)}, or deny fewer`,
  );
}

function askedMs(name: 'wallClock' | 'approval', asked: string): number {
  if (isDuration(asked)) return durationMs(asked);
  throw new ConfigError(
    `limits.${name} is ${quoteBriefly(asked)}: expected a duration such as 90s, 30m or 2h`,
  );
}

/** Notice for a checkpoint whose card has no price. */
export const FREE_TOKENS =
  'Tokens of a trained Conductor are booked at no cost: set its "price:" under "conductor:" or "conductors:". ' +
  'For example, a GPU at $2 an hour that processes 1,000 tokens a second costs $0.56 per million.';

/** Whether calls of a card are booked at no cost because no price is configured. */
export function isFreeOfCharge({ provider, priceVersion }: ConductorCard): boolean {
  return provider === 'policy' && priceVersion !== 'card';
}

/** Returns sentences on costs that are not booked and a cost limit that cannot be enforced. */
export function noticesOf(config: Config): string[] {
  const { costUsd } = config.limits;
  const runs = [undefined, ...Object.keys(config.conductors)].map((name) =>
    resolveRun(config, { conductor: { name } }),
  );
  const free = runs.some(({ conductor }) => isFreeOfCharge(conductor)) ? [FREE_TOKENS] : [];
  const names = [...new Set(runs.flatMap(unpricedOf).map(nameOfCard))];
  if (costUsd === null || names.length === 0) return free;
  return [
    ...free,
    `limits.costUsd ($${costUsd}) cannot be enforced: ${haveNoPrice(names)}. ` +
      'Set a "price:" for each; the limits on calls and tokens still apply.',
  ];
}

/** Returns the Conductor and the workers whose calls have an unknown cost. */
export function unpricedOf({
  conductor,
  workers,
}: Pick<ResolvedRun, 'conductor' | 'workers'>): (ConductorCard | RunWorker)[] {
  return [conductor, ...workers].filter((card) => !isPriced(card));
}

export function isPriced(card: ConductorCard | RunWorker): boolean {
  return card.price != null;
}

/** Returns the setting of a card's price, with its unit. */
export function priceSettingOf(card: ConductorCard | RunWorker): string {
  return 'provider' in card
    ? '"price: { input, output }", in USD per million tokens'
    : '"price: { perCall }", in USD';
}

/** `worker a (openai m) has no known price`. */
export function haveNoPrice(names: readonly string[]): string {
  return `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} no known price`;
}
