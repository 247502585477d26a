import { nanoUsdOf } from '../../budget/nano-usd';
import type { ConductorCard, RunWorker } from '../../protocol/cards';
import { utf8Bytes } from '../../plan/plan';
import {
  conductorFor,
  type EvaluatedQuestion,
  type EvaluationManifest,
  type Method,
  MOST_ATTEMPTS,
  readMethod,
  REFERENCE,
  workersFor,
} from '../../evaluation/definitions';
import { randomFrom } from '../../statistics/chance';
import { meanOfAll, sumOfAll } from '../../statistics/statistics';
import { needsVerifier } from './draw-questions';

// Lengths are assumed, since no call was made yet; the budget limits the cost, not this estimate.

const BYTES_A_TOKEN = 4;
const PROMPT_TOKENS = { conductor: 1_000, worker: 150, verifier: 300 } as const;
const ANSWER_TOKENS = 600;
/** Mean number of steps of a plan (paper, section 4). */
const PLAN_STEPS = 3;

/** Number of calls, and the price of each in USD; null if it is unknown. */
type Calls = readonly [count: number, usd: number | null];

/** Estimates the calls of all methods on all questions; `usd` is null if a price is unknown. */
export function estimateEvaluation(
  methods: readonly string[],
  questions: readonly EvaluatedQuestion[],
  evaluation: Pick<EvaluationManifest, 'run' | 'conductors' | 'baselines' | 'verifier' | 'compares'>,
): { readonly calls: number; readonly usd: number | null } {
  const { run, conductors, baselines, verifier, compares } = evaluation;
  const cast = { workers: run.workers.map(({ id }) => id), conductors, baselines };
  const bytes = questions.reduce((sum, { question }) => sum + utf8Bytes(question), 0);
  const tokens = bytes / questions.length / BYTES_A_TOKEN;
  // Leaves out the Conductor's solves of logged questions, which are paid for already.
  const isLogged = questions.some(({ solved }) => solved);
  const tried = methods.filter((name) => !isLogged || name !== REFERENCE);
  const played = tried
    .flatMap((name) => callsOf(readMethod(name, cast).method, evaluation, tokens))
    .map(([count, usd]): Calls => [count * questions.length, usd]);
  const unknown = questions.filter(({ grader }) => grader === 'none').length;
  const verified = methods.length * questions.filter(needsVerifier).length;
  const compared = compares ? 2 * tried.length * unknown : 0;
  const judgement = priceOf(verifier, PROMPT_TOKENS.verifier + tokens + 2 * ANSWER_TOKENS);
  const { calls, usd } = total([...played, [verified + compared, judgement]]);
  return { calls: Math.round(calls), usd };
}

function total(all: readonly Calls[]): { readonly calls: number; readonly usd: number | null } {
  return {
    calls: all.reduce((sum, [count]) => sum + count, 0),
    usd: sumOfAll(all.map(([count, usd]) => (count === 0 ? 0 : usd && count * usd))),
  };
}

function callsOf(
  method: Method,
  cast: Pick<EvaluationManifest, 'run' | 'conductors' | 'baselines'>,
  tokens: number,
): readonly Calls[] {
  const { run } = cast;
  const stepOf = (worker: RunWorker | undefined): number | null =>
    priceOf(worker, PROMPT_TOKENS.worker + tokens + ANSWER_TOKENS);
  const cardOf = (worker: string): RunWorker | undefined =>
    workersFor(cast, worker).find(({ id }) => id === worker);
  const step = meanOfAll(run.workers.map(stepOf));
  const planned = (steps: number, named?: string): readonly Calls[] => [
    [1, priceOf(conductorFor(cast, named), PROMPT_TOKENS.conductor + tokens)],
    [steps, step],
  ];
  switch (method.kind) {
    case 'conductor':
      return Array.from({ length: 1 + method.depth }, () =>
        planned(method.steps ?? PLAN_STEPS, method.named),
      ).flat();
    case 'rewrite':
      return [[PLAN_STEPS, step]];
    case 'routed':
      return [[1, step]];
    case 'agreement':
      return [[run.workers.length, step]];
    case 'samples': {
      // Attempts may cost as much as the Conductor's solve.
      const { calls, usd } = total(planned(PLAN_STEPS));
      const attempt = stepOf(cardOf(method.worker));
      const affordable = usd && attempt ? usd / attempt : calls;
      return [[Math.max(1, Math.min(MOST_ATTEMPTS, affordable)), attempt]];
    }
    case 'plan': {
      const team = { workers: run.workers.map(({ id }) => id), random: randomFrom('estimate') };
      const { steps } = method.write(team, 'team');
      return steps.map(({ worker }) => [1, stepOf(cardOf(worker))]);
    }
  }
}

/** Returns the USD of one call; null if the price is unknown. */
function priceOf(card: RunWorker | ConductorCard | null | undefined, inputTokens: number): number | null {
  if (!card) return null;
  if (!('provider' in card)) return card.price?.perCall ?? null;
  if (card.price === null) return null;
  const usage = {
    inputTokens: Math.round(inputTokens),
    outputTokens: Math.min(ANSWER_TOKENS, card.maxOutputTokens),
    cachedInputTokens: 0,
    reasoningTokens: 0,
  };
  return nanoUsdOf(usage, card.price) / 1e9;
}
