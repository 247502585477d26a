import type { ConductorCard, ModelCard } from '../pool/card';
import type { RunWorker } from '../protocol/run';
import { nanoUsdOf } from './nano-usd';

/** What ONE request that is billed may come to. */
export interface WorstCase {
  readonly tokens: number;
  /** null: the price is unknown, so nothing is set aside and a cost limit cannot be enforced. */
  readonly nanoUsd: number | null;
}

/**
 * Tokens that a server adds to a prompt unseen: the tags of its chat template around each of a few messages, the
 * default system message of an open model, a vendor's own words about the shape of the output.
 */
const UNSEEN_TOKENS = 256;

/**
 * The most that one request can cost: each byte of the prompt a token, and the output as long as it may be.
 *
 * A tokenizer makes at most one token of a byte, so that this holds for every model without loading any. All input is
 * priced as fresh or as written to a cache, whichever costs more; cached input would cost less. It is the price of the
 * usual service tier, since no other is asked for, and OpenAI is asked for that one whatever the project's settings.
 *
 * A worker that is an activity or a workflow of the user's spends what only its owner knows.
 *
 * @param promptBytes of all messages and of the output schema, in UTF-8
 */
export function worstCaseOf(
  card: RunWorker | ConductorCard,
  promptBytes: number,
  maxOutputTokens: number,
): WorstCase {
  if (!isModel(card)) return { tokens: 0, nanoUsd: null };
  const inputTokens = promptBytes + UNSEEN_TOKENS;
  const tokens = inputTokens + maxOutputTokens;
  const { price } = card;
  if (price === null) return { tokens, nanoUsd: null };
  const fresh = { inputTokens, outputTokens: maxOutputTokens, cachedInputTokens: 0, reasoningTokens: 0 };
  const written = { ...fresh, cacheWriteTokens: inputTokens };
  return { tokens, nanoUsd: Math.max(nanoUsdOf(fresh, price), nanoUsdOf(written, price)) };
}

function isModel(card: RunWorker | ConductorCard): card is ModelCard | ConductorCard {
  return 'provider' in card;
}
