import { ConfigError } from '../../config/errors';
import type { ModelProvider } from '../../protocol/cards';
import { completeAnthropic, listAnthropic } from './anthropic';
import { completeGoogle, listGoogle } from './google';
import { createCompleteLocal } from './local';
import type { Complete, ListModels } from './model';
import { completeOpenAI, listOpenAI } from './openai';
import { withoutRefused } from './refusals';

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
