import { ConfigError } from '../../config/errors';
import type { ModelProvider } from '../../protocol/cards';
import { completeAnthropic } from './anthropic';
import { completeGoogle } from './google';
import { createCompleteLocal, type LocalModelOptions } from './local';
import type { Complete, ModelRequest } from './model';
import { completeOpenAI } from './openai';

export { backgroundOpenAI } from './openai';

/**
 * The one verb for every provider: asks the model that a request's card names.
 *
 * A vendor's SDK is loaded by the first request to that vendor, and the local engine by the first to a local model.
 */
export function createComplete(options: LocalModelOptions): Complete {
  const providers: Readonly<Record<ModelProvider, Complete>> = {
    openai: completeOpenAI,
    anthropic: completeAnthropic,
    google: completeGoogle,
    local: createCompleteLocal(options),
    policy: noPolicy,
  };
  return (request) => providers[request.card.provider](request);
}

/** A configuration with such a Conductor is refused where the worker is set up; a card may still come from elsewhere. */
function noPolicy({ card }: ModelRequest): Promise<never> {
  return Promise.reject(
    new ConfigError(`this worker serves no checkpoint, and ${card.model} is one: mount TrainingPlugin on it`),
  );
}
