import type { ModelProvider } from '../../protocol/cards';
import { createCompletePolicy } from '../../training/policy/conductor';
import { completeAnthropic } from './anthropic';
import { completeGoogle } from './google';
import { createCompleteLocal, type LocalModelOptions } from './local';
import type { Complete } from './model';
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
    policy: createCompletePolicy(),
  };
  return (request) => providers[request.card.provider](request);
}
