import { createAskPolicy } from '../../policy/ask-policy';
import type { Complete } from './model';

/**
 * Checkpoints trained here, through the very client that sampled their training: one plan, at the manifest's
 * temperature. It costs nothing that we could know of, and so is booked at 0.
 *
 * A reply that was cut at its longest is handed on like a whole one: as in training, the parser judges whether there is
 * a plan in it.
 */
export function createCompletePolicy(): Complete {
  const ask = createAskPolicy();
  return async ({ card, policy, messages, maxOutputTokens, seed, signal }) => {
    if (policy === undefined) throw new Error(`${card.model} is asked before it is known where it is served`);
    const { temperature } = card;
    const { promptTokenIds, samples } = await ask(
      policy,
      {
        messages,
        n: 1,
        temperature: temperature ?? 0,
        maxTokens: maxOutputTokens,
        ...(seed !== undefined && { seed }),
      },
      signal,
    );
    const text = samples.map((sample) => sample.text).join('');
    const outputTokens = samples.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    const usage = {
      inputTokens: promptTokenIds.length,
      outputTokens,
      cachedInputTokens: 0,
      reasoningTokens: 0,
    };
    return { text, finish: 'stop', refusal: null, usage, reportedNanoUsd: null, dropped: [] };
  };
}
