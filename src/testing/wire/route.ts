import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { anthropic } from './anthropic';
import { google } from './google';
import { openAiChat, openAiResponses } from './openai';
import type { Prompt, Wire } from './wire';

export interface Route {
  readonly wire: Wire;
  readonly path: string;
  /** Gemini names the model in its path, the others in the body. */
  readonly modelInPath: string | null;
  /** Gemini streams at an address of its own. */
  readonly streams: boolean;
}

const FIXED = new Map<string, Wire>([
  ['/v1/chat/completions', openAiChat],
  ['/v1/responses', openAiResponses],
  ['/v1/messages', anthropic],
]);
const GEMINI = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** Finds the protocol behind a path that is posted to; null for any other path. */
export function findRoute(path: string): Route | null {
  const wire = FIXED.get(path);
  if (wire) return { wire, path, modelInPath: null, streams: false };
  const [, model, method] = GEMINI.exec(path) ?? [];
  if (model === undefined) return null;
  return { wire: google, path, modelInPath: model, streams: method === 'streamGenerateContent' };
}

/** Reads a request as its vendor would; why the vendor would not accept it comes back as a sentence. */
export function decodePrompt(route: Route, body: string): Prompt | { readonly problem: string } {
  const json = parseJson(body);
  if (json === undefined) return { problem: 'The request body is not JSON.' };
  try {
    const { stream, ...prompt } = route.wire.decode(json, route.modelInPath);
    if (!stream && !route.streams) return prompt;
    return { problem: 'Streaming is not simulated: send the request without `stream`.' };
  } catch (error) {
    if (error instanceof z.ZodError) return { problem: z.prettifyError(error) };
    throw error;
  }
}

/** undefined for a text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The body that lists models at a path; null for any other. Only Anthropic's clients send `anthropic-version`. */
export function listModels(
  path: string,
  headers: IncomingHttpHeaders,
  models: readonly string[],
): object | null {
  if (path === '/v1beta/models') return { models: models.map((id) => ({ name: `models/${id}` })) };
  if (path !== '/v1/models') return null;
  if (headers['anthropic-version'] === undefined) {
    const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'simulation' }));
    return { object: 'list', data };
  }
  return {
    data: models.map((id) => ({ id, type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' })),
    has_more: false,
    first_id: models.at(0) ?? null,
    last_id: models.at(-1) ?? null,
  };
}
