import type { ModelProvider } from '../pool/card';

/** Where calls of a provider's models wait, if each provider has a queue of its own. Never change how it is formed. */
export function providerQueue(taskQueue: string, provider: ModelProvider): string {
  return `${taskQueue}-${provider}`;
}
