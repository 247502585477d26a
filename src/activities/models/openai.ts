import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import type { BackgroundCalls, Complete, ListModels, ModelRequest } from './model';
import { completeChat } from './openai-chat';
import { beginResponse, cancelResponse, completeResponse, EFFORTS, lookAtResponse } from './openai-responses';
import { chooseSettings } from './api-settings';
import { sendWith } from './transport';

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

export const listOpenAI: ListModels = async ({ signal, ...place }) => {
  const { data } = await (await openClient(place)).models.list({ signal });
  // llama.cpp answers to any name with the one model that it has.
  return data.flatMap(({ id, owned_by: owner }) => (owner === 'llamacpp' ? [] : [id]));
};

/** A client for one request; it holds no socket, so there is nothing to close. */
async function openClient({
  card,
  apiKey,
  callId,
}: Pick<ModelRequest, 'card' | 'apiKey' | 'callId'>): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    // null, where the card names none, keeps the SDK from another address in the environment.
    baseURL: card.baseUrl,
    apiKey: apiKey ?? 'none',
    maxRetries: 0,
    timeout: card.timeoutMs,
    fetch: sendWith({
      Authorization: apiKey === null ? null : `Bearer ${apiKey}`,
      // Id to look for in the logs of OpenAI, or of a gateway before it.
      'X-Client-Request-Id': callId,
    }),
    logLevel: 'off',
  });
}
