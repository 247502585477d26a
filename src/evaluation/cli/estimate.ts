import { nanoUsdOf } from '../../budget/nano-usd';
import type { ConductorCard, ModelCard } from '../../protocol/cards';
import type { ResolvedRun, RunWorker } from '../../protocol/run';
import { utf8Bytes } from '../../plan/plan';
import { randomFrom } from '../chance';
import type { EvaluatedQuestion } from '../contract';
import type { Method } from '../methods/method';
import { choicesAmong, MOST_ATTEMPTS } from '../methods/samples';
import { readMethod, REFERENCE } from '../methods/read-method';
import { meanOfAll } from '../statistics';
import { needsVerifier } from './questions';

/** Expected size of an evaluation. */
export interface Estimate {
  readonly calls: number;
  /** Null if a price is unknown. */
  readonly usd: number | null;
}

// Before anything is asked, lengths can only be assumed; what is spent is bounded by the budget, not by this.

/** Bytes that are a token, in most languages and for most models. */
const BYTES_A_TOKEN = 4;
/** Instructions around a question. */
const PROMPT_TOKENS = { conductor: 1_000, worker: 150, verifier: 300 } as const;
const ANSWER_TOKENS = 600;
/** Steps of a plan, in the mean (paper, section 4). */
const PLAN_STEPS = 3;

interface EstimateOptions {
  readonly run: ResolvedRun;
  readonly verifier: ModelCard | null;
  /** The verifier compares answers where no right one is known. */
  readonly compares: boolean;
}

/** Estimates the calls of all methods on all questions. */
export function estimateEvaluation(
  methods: readonly string[],
  questions: readonly EvaluatedQuestion[],
  { run, verifier, compares }: EstimateOptions,
): Estimate {
  const workers = run.workers.map(({ id }) => id);
  const bytes = questions.reduce((sum, { question }) => sum + utf8Bytes(question), 0);
  const tokens = bytes / questions.length / BYTES_A_TOKEN;
  // Leaves out the Conductor's part in questions of the log, which is paid already.
  const tried = questions.some(({ solved }) => solved)
    ? methods.filter((name) => name !== REFERENCE)
    : methods;
  const perQuestion = tried
    .map((name) => estimateMethod(readMethod(name, workers).method, run, tokens))
    .reduce(add, NOTHING);
  const verified = methods.length * questions.filter(needsVerifier).length;
  const compared = compares
    ? 2 * tried.length * questions.filter(({ grader }) => grader === 'none').length
    : 0;
  const judging = times(
    verified + compared,
    callOf(verifier, PROMPT_TOKENS.verifier + tokens + 2 * ANSWER_TOKENS),
  );
  const { calls, usd } = perQuestion;
  const sum = add({ calls: calls * questions.length, usd: usd && usd * questions.length }, judging);
  return { ...sum, calls: Math.round(sum.calls) };
}

const NOTHING: Estimate = { calls: 0, usd: 0 };

function estimateMethod(method: Method, run: ResolvedRun, tokens: number): Estimate {
  const planning = times(1, callOf(run.conductor, PROMPT_TOKENS.conductor + tokens));
  const steps = times(PLAN_STEPS, meanCall(run.workers, tokens));
  switch (method.kind) {
    case 'conductor': {
      const { depth, steps: most = PLAN_STEPS } = method;
      const own = add(planning, times(most, meanCall(run.workers, tokens)));
      return { calls: own.calls * (1 + depth), usd: own.usd === null ? null : own.usd * (1 + depth) };
    }
    case 'rewrite':
      return steps;
    case 'routed':
      return times(1, meanCall(run.workers, tokens));
    case 'samples':
      return estimateSamples(method, run, tokens);
    case 'plan': {
      const team = { workers: run.workers.map(({ id }) => id), random: randomFrom('estimate') };
      const asked = method.write(team).steps.map(({ worker, sees }) => {
        const card = run.workers.find(({ id }) => id === worker);
        return times(1, callOf(card, PROMPT_TOKENS.worker + tokens + sees.length * ANSWER_TOKENS));
      });
      return asked.reduce(add, NOTHING);
    }
  }
}

/** Estimates the attempts that the Conductor's cost pays for, in tokens if no money is paid or a price is unknown. */
function estimateSamples(
  { worker, choose }: Extract<Method, { readonly kind: 'samples' }>,
  run: ResolvedRun,
  tokens: number,
): Estimate {
  const card = run.workers.find(({ id }) => id === worker);
  const attempt = callOf(card, PROMPT_TOKENS.worker + tokens);
  const { usd } = add(
    times(1, callOf(run.conductor, PROMPT_TOKENS.conductor + tokens)),
    times(PLAN_STEPS, meanCall(run.workers, tokens)),
  );
  const answered = tokens + ANSWER_TOKENS;
  const ofConductor =
    PROMPT_TOKENS.conductor + answered + PLAN_STEPS * (PROMPT_TOKENS.worker + answered + ANSWER_TOKENS);
  const affordable = usd && attempt ? usd / attempt : ofConductor / (PROMPT_TOKENS.worker + answered);
  const most = choose === 'judge' ? choicesAmong(Math.min(MOST_ATTEMPTS, affordable)) : 0;
  const attempts = Math.min(MOST_ATTEMPTS, Math.max(1, Math.floor(affordable) - most));
  if (attempts === 1) return times(1, attempt);
  const choices = choose === 'judge' ? choicesAmong(attempts) : 0;
  const compared = (attempts + choices - 1) / Math.max(1, choices);
  const choice = callOf(card, PROMPT_TOKENS.worker + tokens + compared * ANSWER_TOKENS);
  return add(times(attempts, attempt), times(choices, choice));
}

/** USD of one call; null where no price is known. */
function callOf(card: RunWorker | ConductorCard | null | undefined, inputTokens: number): number | null {
  if (!card) return null;
  if (!('provider' in card)) return card.price?.perCall ?? null;
  if (card.price === null) return null;
  const outputTokens = Math.min(ANSWER_TOKENS, card.maxOutputTokens);
  const usage = {
    inputTokens: Math.round(inputTokens),
    outputTokens,
    cachedInputTokens: 0,
    reasoningTokens: 0,
  };
  return nanoUsdOf(usage, card.price) / 1e9;
}

function meanCall(workers: readonly RunWorker[], tokens: number): number | null {
  return meanOfAll(workers.map((worker) => callOf(worker, PROMPT_TOKENS.worker + tokens + ANSWER_TOKENS)));
}

function times(calls: number, usd: number | null): Estimate {
  return { calls, usd: calls === 0 ? 0 : usd && calls * usd };
}

function add(one: Estimate, other: Estimate): Estimate {
  return {
    calls: one.calls + other.calls,
    usd: one.usd === null || other.usd === null ? null : one.usd + other.usd,
  };
}
