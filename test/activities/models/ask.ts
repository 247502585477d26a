import { completeAnthropic } from '../../../src/activities/models/anthropic';
import { type CallFailure, toProviderFailure } from '../../../src/activities/models/failure';
import { completeGoogle } from '../../../src/activities/models/google';
import type { Complete, ModelReply, ModelRequest } from '../../../src/activities/models/model';
import { completeOpenAI } from '../../../src/activities/models/openai';
import type { ModelCard } from '../../../src/protocol/cards';

/** Long and unlike anything else, so that it can be searched for as bytes. */
export const KEY = 'sk-test-5up3rS3cretK3yTh4tMustNotLeak0123456789';

/** A card of which everything may be asked, for a server at `baseUrl`. */
export function aCard(changes: Partial<ModelCard>): ModelCard {
  return {
    kind: 'model',
    id: 'ada',
    provider: 'openai',
    model: 'sim-1',
    api: null,
    baseUrl: null,
    apiKeyEnv: 'SIM_KEY',
    maxOutputTokens: 256,
    temperature: null,
    effort: null,
    timeoutMs: 30_000,
    capabilities: { sampling: true, effort: ['low', 'high'], jsonSchema: true, maxOutputTokens: null },
    price: null,
    priceVersion: null,
    notes: null,
    fallback: [],
    layout: 'tagged',
    ...changes,
  };
}

/** A request with one user message. */
export function aRequest(card: ModelCard, changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    card,
    messages: [{ role: 'user', text: 'How many legs has a spider?' }],
    maxOutputTokens: card.maxOutputTokens,
    apiKey: KEY,
    signal: new AbortController().signal,
    timeoutMs: card.timeoutMs,
    ...changes,
  };
}

/** A reply without anything. */
export const NOTHING: ModelReply = {
  text: '',
  finish: 'stop',
  refusal: null,
  usage: null,
  reportedNanoUsd: null,
  dropped: [],
};

/** One of the four ways to talk to a provider. */
export interface Dialect {
  readonly name: string;
  readonly complete: Complete;
  /** A card for the simulated providers at `url`. */
  readonly card: (url: string) => ModelCard;
}

export const DIALECTS: readonly Dialect[] = [
  {
    name: 'OpenAI Chat Completions',
    complete: completeOpenAI,
    card: (url) => aCard({ provider: 'openai', api: 'chat', baseUrl: `${url}/v1` }),
  },
  {
    name: 'OpenAI Responses',
    complete: completeOpenAI,
    card: (url) => aCard({ provider: 'openai', api: 'responses', baseUrl: `${url}/v1` }),
  },
  {
    name: 'Anthropic Messages',
    complete: completeAnthropic,
    card: (url) => aCard({ provider: 'anthropic', baseUrl: url }),
  },
  {
    name: 'Gemini generateContent',
    complete: completeGoogle,
    card: (url) => aCard({ provider: 'google', baseUrl: url }),
  },
];

/** Sends a request that must fail, and gives the failure as the activity would see it. */
export async function failureOf(complete: Complete, request: ModelRequest): Promise<CallFailure | null> {
  return complete(request).then(
    () => {
      throw new Error('The request was answered, and should have failed.');
    },
    (error: unknown) => toProviderFailure(error, request),
  );
}
