import { ConfigError } from '../../config/errors';
import type { ModelProvider } from '../../protocol/cards';
import { completeAnthropic, listAnthropic, loadAnthropic } from './anthropic';
import { completeGoogle, listGoogle, loadGoogle } from './google';
import { createCompleteLocal } from './local';
import type { Complete, ListModels } from './model';
import { completeOpenAI, listOpenAI, loadOpenAI } from './openai';
import { withoutRefused } from './refusals';

export { diagnose, DiagnosedError, type Diagnosis, type ProviderFailureType } from './diagnose';
export { judgeReply, toProviderFailure } from './failure';
export { parseJson, saidIn } from './failures/said';
export { hasEngine, howToGetEngine } from './local';
export type { Complete, ListModels, ModelReply, ModelRequest } from './model';
export { backgroundOpenAI } from './openai';
export { UNCALLABLE, UNREACHED } from './proxied';
export { redact } from './redact';
export { sendOnce } from './transport';

/** Returns a function that calls the model of a request's card. Each SDK and the local engine load on first use. */
export function createComplete(fetchSmolLm2: () => Promise<string>): Complete {
  const providers: Readonly<Record<ModelProvider, Complete>> = {
    openai: withoutRefused(completeOpenAI),
    anthropic: withoutRefused(completeAnthropic),
    google: withoutRefused(completeGoogle),
    local: createCompleteLocal(fetchSmolLm2),
    // The setup of a worker checks its configuration, but a card may still come from elsewhere.
    policy: ({ card }) => {
      const problem = `this worker serves no checkpoint, and ${card.model} is one: mount TrainingPlugin on it`;
      return Promise.reject(new ConfigError(problem));
    },
  };
  return (request) => providers[request.card.provider](request);
}

export const MODEL_LISTS: Readonly<Partial<Record<ModelProvider, ListModels>>> = {
  openai: listOpenAI,
  anthropic: listAnthropic,
  google: listGoogle,
};

const SDKS: Readonly<Partial<Record<string, () => Promise<unknown>>>> = {
  openai: loadOpenAI,
  anthropic: loadAnthropic,
  google: loadGoogle,
};

/** Loads what a provider's requests need, which takes seconds in a new process. */
export async function loadSdk(provider: string): Promise<void> {
  await SDKS[provider]?.();
}
