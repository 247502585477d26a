import { EXAMPLE_SET_NAMES } from '../plan/plan';
import { findShapeProblem, isRecord } from '../plan/validate';
import type { Parent, ReviewedRound } from './activity-contract';
import type { ConductorCard, ExternalCard, ModelCard, ModelProvider, Price, Rates } from './cards';
import { bound, durationMs, HINT, LIMIT_RULES, MAX_COST_USD, MAX_HINTS } from './messages';
import type { ResolvedRun, RunLimits } from './run';
import {
  anyText,
  either,
  flag,
  keeps,
  listOf,
  number,
  oneOf,
  optional,
  orNull,
  recordOf,
  type Rule,
  type Rules,
  whole,
} from './rules';
import { INLINE_BYTES, isText } from './text';

/*
 * Rules for what a solve gives to a solve that it starts. Any client may have written it, and the run calculates with all
 * of it: what has another shape would fail its workflow task over and over. No key goes anywhere because of it, see
 * `config/api-keys.ts`.
 */

const MAX_ESTIMATOR = 100;

/** USD per million tokens, far beyond any model: sums must stay exact. */
const rate = number(0, 1e6);
const count = whole(1);
const textOrNull = orNull(anyText);

export const PLAN: Rule = {
  isMet: (plan) => findShapeProblem(plan) === null,
  expected: 'a plan { steps: [{ worker, subtask, sees }] }',
};

export const TEXT: Rule = {
  isMet: (value) => isText(value),
  expected: `a text of at most ${INLINE_BYTES} bytes, or a reference to one in the store`,
};

const RATES: Rules<Rates> = {
  input: rate,
  output: rate,
  cachedInput: optional(rate),
  cacheWrite: optional(rate),
  hourCacheWrite: optional(rate),
};

const TIER: Rules<Omit<Price, 'tiers'>> = { ...RATES, longPrompt: optional({ ...RATES, over: count }) };

const PRICE: Rules<Price> = { ...TIER, tiers: optional(recordOf(either(isRecord, TIER, rate))) };

const PROVIDERS: readonly ModelProvider[] = ['openai', 'anthropic', 'google', 'local', 'policy'];

type ModelSettings = Pick<ModelCard, keyof ModelCard & keyof ConductorCard>;

const SETTINGS: Rules<ModelSettings> = {
  provider: oneOf(...PROVIDERS),
  model: anyText,
  api: oneOf('responses', 'chat', null),
  background: optional(oneOf(true)),
  baseUrl: textOrNull,
  apiKeyEnv: textOrNull,
  maxOutputTokens: count,
  temperature: orNull({ isMet: Number.isFinite, expected: 'a number' }),
  effort: textOrNull,
  timeoutMs: durationMs,
  capabilities: {
    sampling: flag,
    effort: listOf(anyText),
    jsonSchema: flag,
    maxOutputTokens: orNull(count),
  },
  price: orNull(PRICE),
  priceVersion: textOrNull,
};

const CONDUCTOR: Rules<ConductorCard> = {
  ...SETTINGS,
  describe: oneOf('ordinals', 'names', 'notes'),
  checkpoint: optional(anyText),
  prompt: optional(oneOf('full', 'compact')),
  examples: optional(oneOf(...EXAMPLE_SET_NAMES)),
  plan: optional(PLAN),
};

const MEMBER = { id: anyText, notes: textOrNull, fallback: listOf(anyText) };

export const MODEL: Rules<ModelCard> = {
  kind: oneOf('model'),
  ...SETTINGS,
  ...MEMBER,
  layout: oneOf('tagged', 'chat', 'plain'),
  instructions: optional(anyText),
};

const usd = number(0, MAX_COST_USD);
const CALL_PRICE: Rule = {
  isMet: (price) => isRecord(price) && Object.keys(price).join() === 'perCall' && usd.isMet(price.perCall),
  expected: `{ perCall }, ${usd.expected}`,
};

const EXTERNAL: Rules<ExternalCard> = {
  kind: oneOf('activity', 'workflow'),
  ...MEMBER,
  type: anyText,
  taskQueue: anyText,
  timeoutMs: durationMs,
  price: optional(CALL_PRICE),
};

/** The card of any worker. */
export const WORKER = either((card) => isRecord(card) && card.kind === 'model', MODEL, EXTERNAL);

const LIMITS: Rules<RunLimits> = {
  steps: LIMIT_RULES.steps,
  depth: LIMIT_RULES.depth,
  calls: LIMIT_RULES.calls,
  tokens: bound,
  nanoUsd: bound,
  wallClockMs: durationMs,
  approvalMs: durationMs,
};

/** A run as the activity `conductor.resolveRun` returns it. */
export const RUN: Rules<ResolvedRun> = {
  conductor: CONDUCTOR,
  workers: listOf(WORKER, 1),
  limits: LIMITS,
  recursion: oneOf('review', 'worker', 'both', 'never'),
  heartbeatMs: durationMs,
  queuePerProvider: flag,
  // A run of a newer version waits for a worker that knows it; of a version that will never be, it would wait for ever.
  estimator: optional(whole(1, MAX_ESTIMATOR)),
};

/** The run of a group, which may call more often than the result of a solve could list. */
export const GROUP_RUN: Rules<ResolvedRun> = { ...RUN, limits: { ...LIMITS, calls: count } };

export function isRun(value: unknown): boolean {
  return keeps(value, RUN);
}

export function isModel(card: unknown): boolean {
  return keeps(card, MODEL);
}

const REVIEW: Rules<ReviewedRound> = { plan: PLAN, answer: TEXT };

export const PARENT: Rules<Parent> = {
  rootId: anyText,
  depth: count,
  round: whole(0),
  step: optional(whole(0)),
  run: RUN,
  background: listOf({
    subtask: orNull(either((value) => typeof value === 'string', anyText, TEXT)),
    output: TEXT,
  }),
  review: optional(REVIEW),
  hints: listOf(HINT, 0, MAX_HINTS),
};
