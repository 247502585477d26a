import { OpenAI } from 'openai';
import { callIdOf } from '../../../src/activities/ledger-row';
import type { Message } from '../../../src/plan/plan';
import type { ModelCard } from '../../../src/protocol/cards';
import type { RolloutId } from '../../../src/training/rollout';

/** One call of one worker. */
export interface PlainCall {
  readonly card: ModelCard;
  readonly messages: readonly Message[];
  readonly rollout: RolloutId;
  readonly step: number;
}

/** Asks a worker as one would without the product: one request, whose answer nobody keeps. */
export type AskWorker = (call: PlainCall) => Promise<string>;

export function createAskWorker(baseURL: string): AskWorker {
  const openai = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  return async (call) => {
    const reply = await openai.chat.completions.create(
      {
        model: call.card.model,
        messages: call.messages.map(({ role, text }) => ({ role, content: text })),
      },
      { headers: { 'X-Client-Request-Id': nameOf(call) } },
    );
    return reply.choices[0]?.message.content ?? '';
  };
}

/**
 * The product's own name of the call. The world draws a worker's luck from it, so that both loops are answered the same
 * and learn the same: that their weights are equal shows it.
 */
function nameOf({ card, messages, rollout, step }: PlainCall): string {
  const { id, provider, model, api, temperature, effort, maxOutputTokens } = card;
  const request = { provider, model, api, temperature, effort, messages, maxOutputTokens };
  return callIdOf({ activityId: '' }, request, { ...rollout, call: 0, round: 0, step, worker: id });
}
