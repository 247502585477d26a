import { EXAMPLE_SET_NAMES } from '../plan/plan';
import { findShapeProblem, isRecord } from '../plan/validate';
import type { Parent, ReviewedRound } from './activities';
import type { ConductorCard, ExternalCard, ModelCard, ModelProvider, Rates } from './cards';
import {
  isBound,
  isDurationMs,
  isHint,
  isListOf,
  isString,
  isWhole,
  LIMIT_RULES,
  MAX_HINTS,
} from './messages';
import type { ResolvedRun, RunLimits } from './run';
import { isText } from './text';

type Check = (value: unknown) => boolean;
type Checks<Checked> = Readonly<Record<keyof Checked, Check>>;

/**
 * Whether a value is what a solve gives to a solve that it starts. Any client may have written it, and the run calculates
 * with all of it: what has another shape would fail its workflow task over and over. No key goes anywhere because of
 * it, see `config/keys.ts`. By hand, for the reason given in `input.ts`.
 */
export function isParent(value: unknown): boolean {
  return holds(value, PARENT);
}

/** Whether a value is an object in which every one of these fields is as it must be; it may have others. */
function holds<Checked>(value: unknown, checks: Checks<Checked>): boolean {
  return isRecord(value) && Object.entries<Check>(checks).every(([name, isMet]) => isMet(value[name]));
}

const isStringOrNull: Check = (value) => value === null || isString(value);
const isBoolean: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => isWhole(value, 1);
const isPlan: Check = (plan) => findShapeProblem(plan) === null;
const isRate: Check = (value) => typeof value === 'number' && value >= 0 && value <= MAX_RATE;

const MAX_ESTIMATOR = 100;

/** USD per million tokens, far beyond any model: sums must stay exact. */
const MAX_RATE = 1e6;

function orAbsent(isMet: Check): Check {
  return (value) => value === undefined || isMet(value);
}

function orNull(isMet: Check): Check {
  return (value) => value === null || isMet(value);
}

function oneOf(...known: readonly unknown[]): Check {
  return (value) => known.includes(value);
}

const RATES: Checks<Rates> = {
  input: isRate,
  output: isRate,
  cachedInput: orAbsent(isRate),
  cacheWrite: orAbsent(isRate),
  hourCacheWrite: orAbsent(isRate),
};

const isTierPrice: Check = (price) =>
  holds(price, { ...RATES, longPrompt: orAbsent((rates) => holds(rates, { ...RATES, over: isCount })) });

const areTiers: Check = (tiers) =>
  isRecord(tiers) && Object.values(tiers).every((tier) => isRate(tier) || isTierPrice(tier));

const isPrice: Check = (price) => isTierPrice(price) && holds(price, { tiers: orAbsent(areTiers) });

const PROVIDERS: readonly ModelProvider[] = ['openai', 'anthropic', 'google', 'local', 'policy'];

type ModelSettings = Pick<ModelCard, keyof ModelCard & keyof ConductorCard>;

const SETTINGS: Checks<ModelSettings> = {
  provider: oneOf(...PROVIDERS),
  model: isString,
  api: oneOf('responses', 'chat', null),
  background: oneOf(true, undefined),
  baseUrl: isStringOrNull,
  apiKeyEnv: isStringOrNull,
  maxOutputTokens: isCount,
  temperature: orNull(Number.isFinite),
  effort: isStringOrNull,
  timeoutMs: isDurationMs,
  capabilities: (value) =>
    holds(value, {
      sampling: isBoolean,
      effort: isListOf(isString),
      jsonSchema: isBoolean,
      maxOutputTokens: orNull(isCount),
    }),
  price: orNull(isPrice),
  priceVersion: isStringOrNull,
};

const CONDUCTOR: Checks<ConductorCard> = {
  ...SETTINGS,
  describe: oneOf('ordinals', 'names', 'notes'),
  checkpoint: orAbsent(isString),
  prompt: oneOf('full', 'compact', undefined),
  examples: oneOf(...EXAMPLE_SET_NAMES, undefined),
  plan: orAbsent(isPlan),
};

const WORKER = { id: isString, notes: isStringOrNull, fallback: isListOf(isString) };

const MODEL: Checks<ModelCard> = {
  ...SETTINGS,
  ...WORKER,
  kind: oneOf('model'),
  layout: oneOf('tagged', 'chat', 'plain'),
  instructions: orAbsent(isString),
};

function isCallPrice(price: unknown): boolean {
  return (
    isRecord(price) &&
    Object.keys(price).join() === 'perCall' &&
    LIMIT_RULES.costUsd.isMet(price.perCall ?? -1)
  );
}

const EXTERNAL: Checks<ExternalCard> = {
  ...WORKER,
  kind: oneOf('activity', 'workflow'),
  type: isString,
  taskQueue: isString,
  timeoutMs: isDurationMs,
  price: orAbsent(isCallPrice),
};

export function isModel(card: unknown): boolean {
  return holds(card, MODEL);
}

export function isWorker(card: unknown): boolean {
  return isModel(card) || holds(card, EXTERNAL);
}

const LIMITS: Checks<RunLimits> = {
  steps: LIMIT_RULES.steps.isMet,
  depth: LIMIT_RULES.depth.isMet,
  calls: LIMIT_RULES.calls.isMet,
  tokens: isBound,
  nanoUsd: isBound,
  wallClockMs: isDurationMs,
  approvalMs: isDurationMs,
};

const RUN: Checks<ResolvedRun> = {
  conductor: (card) => holds(card, CONDUCTOR),
  workers: (cards) => isListOf(isWorker)(cards) && (cards as unknown[]).length > 0,
  limits: (limits) => holds(limits, LIMITS),
  recursion: oneOf('review', 'worker', 'both', 'never'),
  heartbeatMs: isDurationMs,
  queuePerProvider: isBoolean,
  // A run of a newer version waits for a worker that knows it; of a version that will never be, it would wait for ever.
  estimator: orAbsent((value) => isWhole(value, 1, MAX_ESTIMATOR)),
};

/** Whether a value is a resolved run, which any client may have written. */
export function isRun(value: unknown): boolean {
  return holds(value, RUN);
}

/** Whether a value is the run of a group, which may call more often than the result of a solve could list. */
export function isGroupRun(value: unknown): boolean {
  const limits: Check = (given) => holds(given, { ...LIMITS, calls: isCount });
  return holds(value, { ...RUN, limits });
}

const REVIEW: Checks<ReviewedRound> = {
  plan: isPlan,
  answer: (answer) => isText(answer),
};

const PARENT: Checks<Parent> = {
  rootId: isString,
  depth: isCount,
  round: (round) => isWhole(round, 0),
  step: orAbsent((step) => isWhole(step, 0)),
  run: isRun,
  background: isListOf((text) =>
    holds(text, {
      subtask: orNull((subtask) => isString(subtask) || isText(subtask)),
      output: (output: unknown) => isText(output),
    }),
  ),
  review: orAbsent((review) => holds(review, REVIEW)),
  hints: (hints) => isListOf(isHint)(hints) && (hints as unknown[]).length <= MAX_HINTS,
};
