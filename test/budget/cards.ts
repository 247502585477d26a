import type {
  ConductorCard,
  ExternalCard,
  ModelCard,
  Price,
  ResolvedRun,
  RunWorker,
} from '../../src/protocol/cards';

const SETTINGS = {
  provider: 'openai',
  model: 'some-model',
  api: 'chat',
  baseUrl: null,
  apiKeyEnv: null,
  maxOutputTokens: 100,
  temperature: null,
  effort: null,
  timeoutMs: 1000,
  capabilities: { sampling: true, effort: [], jsonSchema: true, maxOutputTokens: null },
  price: { input: 1, output: 2 },
  priceVersion: 'card',
} as const;

/** Returns the card of a pool's model, by default at one micro-USD per input token and two per output token. */
export function modelCard(id: string, price: Price | null = SETTINGS.price): ModelCard {
  return { ...SETTINGS, kind: 'model', id, notes: null, fallback: [], layout: 'tagged', price };
}

/** Returns the card of a worker that is an activity of the user's. */
export function externalCard(id: string): ExternalCard {
  return { kind: 'activity', id, type: 'ask', taskQueue: 'own', timeoutMs: 1000, notes: null, fallback: [] };
}

/** Returns a run with these workers, and no limit that matters. */
export function runOf(workers: readonly RunWorker[], conductor: Partial<ConductorCard> = {}): ResolvedRun {
  return {
    conductor: { ...SETTINGS, describe: 'notes', access: 'any', ...conductor },
    workers,
    limits: {
      steps: 5,
      wallClockMs: 1000,
      depth: 0,
      calls: 40,
      tokens: null,
      nanoUsd: null,
      approvalMs: 1000,
    },
    recursion: 'both',
    heartbeatMs: 1000,
    queuePerProvider: false,
  };
}
