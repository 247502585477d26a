import type { ModelCall } from '../../../src/activities/send-request';
import { completeAnthropic } from '../../../src/activities/models/anthropic';
import { type ProviderFailure, toProviderFailure } from '../../../src/activities/models/failure';
import { completeGoogle } from '../../../src/activities/models/google';
import type { Complete, ModelReply, ModelRequest } from '../../../src/activities/models/model';
import { completeOpenAI } from '../../../src/activities/models/openai';
import type { ModelCard } from '../../../src/protocol/cards';

/** A key that is long and unique, so that tests can search for its bytes. */
export const KEY = 'sk-test-5up3rS3cretK3yTh4tMustNotLeak0123456789';

/** Returns the card of a model with every capability, apart from the changes. */
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
    idleTimeoutMs: 30_000,
    capabilities: { sampling: true, effort: ['low', 'high'], jsonSchema: true, maxOutputTokens: null },
    price: null,
    priceVersion: null,
    notes: null,
    fallback: [],
    layout: 'tagged',
    ...changes,
  };
}

/** Returns a request with one user message. */
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

/** Returns the call of a step that makes such a request. */
export function aCall(card: ModelCard, changes: Partial<ModelCall> = {}): ModelCall {
  const place = { purpose: 'step', rootId: 'solve-1', round: 0, step: 0, worker: 'ada' } as const;
  return { ...aRequest(card), ...place, allowance: { requests: 5, billable: 5 }, ...changes };
}

/** An empty reply. */
export const NOTHING: ModelReply = {
  text: '',
  finish: 'stop',
  refusal: null,
  usage: null,
  reportedNanoUsd: null,
  dropped: [],
};

/** One of the four provider APIs, with whole or streamed replies. */
export interface Dialect {
  readonly name: string;
  readonly streams: boolean;
  readonly complete: Complete;
  /** A card for the simulated providers at `url`. */
  readonly card: (url: string) => ModelCard;
}

const APIS: readonly (readonly [name: string, Complete, card: (url: string) => Partial<ModelCard>])[] = [
  ['OpenAI Chat Completions', completeOpenAI, (url) => ({ api: 'chat', baseUrl: `${url}/v1` })],
  ['OpenAI Responses', completeOpenAI, (url) => ({ api: 'responses', baseUrl: `${url}/v1` })],
  ['Anthropic Messages', completeAnthropic, (url) => ({ provider: 'anthropic', baseUrl: url })],
  ['Gemini generateContent', completeGoogle, (url) => ({ provider: 'google', baseUrl: url })],
];

export const DIALECTS: readonly Dialect[] = APIS.map(([name, complete, card]) => ({
  name,
  streams: true,
  complete,
  card: (url) => aCard(card(url)),
}));

export const BOTH_WAYS: readonly Dialect[] = DIALECTS.flatMap((dialect) => [
  dialect,
  {
    ...dialect,
    name: `${dialect.name}, whole`,
    streams: false,
    card: (url) => ({ ...dialect.card(url), idleTimeoutMs: undefined }),
  },
]);

/** Sends a request that must fail, and returns the failure as the activity would see it. */
export async function failureOf(complete: Complete, request: ModelRequest): Promise<ProviderFailure | null> {
  return complete(request).then(
    () => {
      throw new Error('The request was answered, and should have failed.');
    },
    (error: unknown) => toProviderFailure(error, request),
  );
}
