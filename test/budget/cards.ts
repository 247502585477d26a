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

/** A model of a pool, at one millionth of a USD for a token of input and two for one of output. */
export function modelCard(id: string, price: Price | null = SETTINGS.price): ModelCard {
  return { ...SETTINGS, kind: 'model', id, notes: null, fallback: [], layout: 'tagged', price };
}

/** A worker that is an activity of the user's. */
export function externalCard(id: string): ExternalCard {
  return { kind: 'activity', id, type: 'ask', taskQueue: 'own', timeoutMs: 1000, notes: null, fallback: [] };
}

/** A run with these workers, and no limit that matters. */
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
