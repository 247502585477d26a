import type { z } from 'zod';

/** What decides which of OpenAI's two APIs is spoken. */
interface Address {
  readonly api?: 'chat' | 'responses';
  readonly baseUrl?: string;
}

/** The API a configuration names, else the newer one at OpenAI itself and the widely known one at other servers. */
export function openAiApiOf({ api, baseUrl }: Address): 'chat' | 'responses' {
  return api ?? (baseUrl === undefined ? 'responses' : 'chat');
}

/** Checks that answers are asked for in the background only of the API that can write them there. */
export function checkBackground(
  settings: Address & { readonly background?: boolean },
  context: z.RefinementCtx,
): void {
  if (settings.background !== true || openAiApiOf(settings) === 'responses') return;
  const remedy =
    settings.api === 'chat' ? 'set api: responses or remove it' : 'add api: responses or remove it';
  context.addIssue({
    code: 'custom',
    path: ['background'],
    message: `Chat Completions has no background mode; ${remedy}`,
  });
}
