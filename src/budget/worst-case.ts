import type { WorkerRequest } from '../protocol/activity-contract';
import type { ConductorCard, RunWorker } from '../protocol/cards';
import { nanoUsdOfCall } from '../protocol/planning';
import { nanoUsdOf } from './nano-usd';

/** Largest possible bill of ONE request. */
export interface WorstCase {
  /** Model of the request; absent for the user's own activities and workflows. */
  readonly model?: string;
  readonly tokens: number;
  /** null: the price is unknown, so no cost is reserved and a cost limit cannot be enforced. */
  readonly nanoUsd: number | null;
}

/** Tokens that a server may add unseen: chat template tags, a default system message, output instructions. */
const UNSEEN_TOKENS = 256;

/**
 * Returns the most that one request can cost: one token per prompt byte, an upper bound for every tokenizer, and the
 * longest output. Input is priced as fresh or as written to a cache, whichever costs more, in the standard tier.
 * @param promptBytes UTF-8 bytes of all messages and the output schema
 * @param maxOutputTokens default: the card's
 */
export function worstCaseOf(
  card: RunWorker | ConductorCard,
  promptBytes: number,
  maxOutputTokens?: number,
): WorstCase {
  if (!('provider' in card)) return { tokens: 0, nanoUsd: nanoUsdOfCall(card) };
  const { model, price } = card;
  const outputTokens = maxOutputTokens ?? card.maxOutputTokens;
  const inputTokens = promptBytes + UNSEEN_TOKENS;
  const tokens = inputTokens + outputTokens;
  if (price === null) return { model, tokens, nanoUsd: null };
  const fresh = { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 };
  const written = { ...fresh, cacheWriteTokens: inputTokens };
  return { model, tokens, nanoUsd: Math.max(nanoUsdOf(fresh, price), nanoUsdOf(written, price)) };
}

/** Returns the output limits for a model's answer, if the run limits them. */
export function answerRoom(
  worker: RunWorker,
  maxAnswerTokens: number | undefined,
): Pick<WorkerRequest, 'maxOutputTokens' | 'maxAnswerTokens'> {
  if (worker.kind !== 'model' || maxAnswerTokens === undefined) return {};
  return { maxOutputTokens: Math.min(worker.maxOutputTokens, maxAnswerTokens), maxAnswerTokens };
}
