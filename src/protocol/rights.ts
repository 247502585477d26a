import { isRecord } from '../plan/validate';
import type { ResolvedRun, RunLimits } from './cards';
import type { ConductorChange, Rights, SolveInput } from './input';
import type { LimitsChange, Sender } from './messages';
import { findFault, given, isString, orNull, type Rules } from './rules';

// What the key behind a run may use. The run holds it, so that no message, retry or child can widen it.

type Bound = Pick<SolveInput, 'rights' | 'conductor'>;

/** Model name that stands for the configured Conductor with its team. */
export const CONDUCTOR_MODEL = 'conductor';

/** Returns the model name that stands for one worker alone. */
export function workerModel(id: string): string {
  return `worker/${id}`;
}

/** Whether a list of model names, or of prefixes followed by `*`, names a model; null names all. */
export function allowsModel(models: readonly string[] | null, model: string): boolean {
  if (models === null) return true;
  return models.some((each) => (each.endsWith('*') ? model.startsWith(each.slice(0, -1)) : model === each));
}

/** Whether a run's key may have its Conductor asked. If not, it may only give plans of the workers it may use. */
export function mayPlan({ rights, conductor = {} }: Bound): boolean {
  if (rights === undefined) return true;
  return allowsModel(rights.models, conductorModel(conductor));
}

/** Returns the model name that stands for a Conductor with its team. */
function conductorModel({ checkpoint, name }: ConductorChange): string {
  const named = checkpoint ?? name;
  return named === undefined ? CONDUCTOR_MODEL : `${CONDUCTOR_MODEL}/${named}`;
}

/** Returns the model name that asks for such a run. */
export function modelOf({ conductor = {}, given, pool: { allow = [] } = {} }: SolveInput): string {
  const [worker, ...others] = allow;
  // A given plan and a pool of one: the gateway's clients ask so for a worker alone.
  if (given !== undefined && worker !== undefined && others.length === 0) return workerModel(worker);
  return conductorModel(conductor);
}

/** Returns the ids of the workers that a run's key may use: the Conductor's whole team, or those it may ask alone. */
export function workersWithin(input: Bound, { workers }: Pick<ResolvedRun, 'workers'>): string[] {
  const ids = workers.map(({ id }) => id);
  const { models = null } = input.rights ?? {};
  return mayPlan(input) ? ids : ids.filter((id) => allowsModel(models, workerModel(id)));
}

/** Returns the most that a run's key may set each limit to; null if no key binds the run. */
export function mostOf(input: Bound): RunLimits | null {
  const { limits = null } = input.rights ?? {};
  // The Conductor is asked wherever there is depth.
  return limits === null || mayPlan(input) ? limits : { ...limits, depth: 0 };
}

const RULES: Rules<Rights> = {
  models: orNull(
    { isMet: (value) => Array.isArray(value) && value.every(isString), expected: 'a list of texts' },
    'null for all',
  ),
  limits: given,
};

/** Returns the rights in an unchecked input; none if they are invalid, since such a run ends before it does anything. */
export function rightsIn(input: unknown): Bound {
  if (!isRecord(input) || findFault('rights', input.rights, RULES) !== null) return {};
  const { rights, conductor } = input as SolveInput;
  return { rights, ...(isRecord(conductor) && { conductor }) };
}

/** Returns a change of limits as runs hold them. */
export function runLimitsOf({ costUsd, ...change }: LimitsChange): Partial<RunLimits> {
  if (costUsd === undefined) return change;
  return { ...change, nanoUsd: costUsd === null ? null : Math.round(costUsd * 1e9) };
}

export function isOperator(sender: unknown): sender is Sender {
  return isRecord(sender) && sender.asOperator === true;
}

/** Returns the lower of two limits each, where null is no limit. */
export function lowerLimits(one: RunLimits, other: RunLimits): RunLimits {
  const { min } = Math;
  return {
    steps: min(one.steps, other.steps),
    depth: lower(one.depth, other.depth),
    calls: min(one.calls, other.calls),
    tokens: lower(one.tokens, other.tokens),
    nanoUsd: lower(one.nanoUsd, other.nanoUsd),
    wallClockMs: min(one.wallClockMs, other.wallClockMs),
    approvalMs: min(one.approvalMs, other.approvalMs),
  };
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Returns a sentence on the first limit that is above the most that a key may set, or null. */
export function findLimitExcess(change: Partial<RunLimits>, limits: RunLimits): string | null {
  for (const [name, held] of Object.entries(limits) as [keyof RunLimits, number | null][]) {
    const value = change[name];
    if (value === undefined || lower(value, held) === value) continue;
    const [what, asked, most] = name === 'nanoUsd' ? ['costUsd', usd(value), usd(held)] : [name, value, held];
    return `${what} is ${asked ?? 'no limit'}, and this key may set at most ${most}: ask for less, or have the operator raise it`;
  }
  return null;
}

function usd(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : nanoUsd / 1e9;
}
