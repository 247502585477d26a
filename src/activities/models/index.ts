import { ConfigError } from '../../config/errors';
import type { ModelProvider } from '../../protocol/cards';
import { completeAnthropic, listAnthropic } from './anthropic';
import { completeGoogle, listGoogle } from './google';
import { createCompleteLocal } from './local';
import type { Complete, ListModels } from './model';
import { completeOpenAI, listOpenAI } from './openai';
import { withoutRefused } from './refusals';

/** Asks the model that a request's card names. A vendor's SDK, or the local engine, is loaded by the first request to it. */
export function createComplete(fetchSmolLm2: () => Promise<string>): Complete {
  const providers: Readonly<Record<ModelProvider, Complete>> = {
    openai: withoutRefused(completeOpenAI),
    anthropic: withoutRefused(completeAnthropic),
    google: withoutRefused(completeGoogle),
    local: createCompleteLocal(fetchSmolLm2),
    // The configuration is checked where the worker is set up; a card may still come from elsewhere.
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
