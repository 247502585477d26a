import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import type { BackgroundCalls, Complete, ModelRequest } from './model';
import { completeChat } from './openai-chat';
import { beginResponse, cancelResponse, completeResponse, EFFORTS, lookAtResponse } from './openai-responses';
import { chooseSettings } from './settings';
import { sendOnce } from './transport';

/** OpenAI, and every server that speaks one of its two APIs: vLLM, llama.cpp, Ollama, OpenRouter and others. */
export const completeOpenAI: Complete = async (request) => {
  const client = await openClient(request);
  return request.card.api === 'responses'
    ? completeResponse(client, request)
    : completeChat(client, request, chooseSettings(request, { seed: true, efforts: EFFORTS }));
};

/** The Responses API in its background mode. */
export const backgroundOpenAI: BackgroundCalls = {
  begin: async (request) => beginResponse(await openClient(request), request),
  look: async (request, id) => lookAtResponse(await openClient(request), request, id),
  cancel: async (request, id) => cancelResponse(await openClient(request), request, id),
};

/**
 * A client for one request; it holds no socket, so there is nothing to close.
 *
 * What the SDK would read from the environment though no card says it is switched off: another address, and for other
 * people's servers the account's organisation and project.
 */
async function openClient({ card, apiKey, callId }: ModelRequest): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    baseURL: card.baseUrl,
    apiKey: apiKey ?? 'none',
    defaultHeaders: {
      ...(apiKey === null && { Authorization: null }),
      // What a person at OpenAI, or at a gateway before it, would look for in their logs.
      'X-Client-Request-Id': callId,
    },
    ...(card.baseUrl !== null && { organization: null, project: null }),
    maxRetries: 0,
    timeout: card.timeoutMs,
    fetch: sendOnce,
    logLevel: 'off',
  });
}
