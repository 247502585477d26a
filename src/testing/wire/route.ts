import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { anthropic } from './anthropic';
import { google } from './google';
import { openAiChat } from './openai-chat';
import { openAiResponses } from './openai-responses';
import type { Prompt, Wire } from './wire';

export interface Route {
  readonly wire: Wire;
  readonly path: string;
  /** Gemini names the model in the path, the others in the body. */
  readonly modelInPath: string | null;
  readonly streams: boolean;
}

const FIXED = new Map<string, Wire>([
  ['/v1/chat/completions', openAiChat],
  ['/v1/responses', openAiResponses],
  ['/v1/messages', anthropic],
]);
const GEMINI = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** Returns the protocol of a path that takes POST; null for any other path. */
export function findRoute(path: string): Route | null {
  const wire = FIXED.get(path);
  if (wire) return { wire, path, modelInPath: null, streams: false };
  const [, model, method] = GEMINI.exec(path) ?? [];
  if (model === undefined) return null;
  return { wire: google, path, modelInPath: model, streams: method === 'streamGenerateContent' };
}

const streamSchema = z.object({
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});

/** Decodes a request as its vendor would; for a request that the vendor would reject, returns the reason. */
export function decodePrompt(route: Route, body: string): Prompt | { readonly problem: string } {
  try {
    const json: unknown = JSON.parse(body);
    const prompt = withoutEmpty(route.wire.decode(json, route.modelInPath));
    const { stream, stream_options: options } = streamSchema.parse(json);
    if (!route.streams && stream !== true) return prompt;
    if (prompt.background) return { problem: 'A stream in the background is not simulated.' };
    return { ...prompt, streams: { usage: options?.include_usage === true } };
  } catch (error) {
    if (error instanceof z.ZodError) return { problem: z.prettifyError(error) };
    if (error instanceof SyntaxError) return { problem: 'The request body is not JSON.' };
    throw error;
  }
}

function withoutEmpty({ exchanged = [], tools, ...prompt }: Prompt): Prompt {
  return { ...prompt, ...(exchanged.length > 0 && { exchanged }), ...(tools && { tools }) };
}

/** Returns the list of models at a path; null for other paths. Only Anthropic's clients send `anthropic-version`. */
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
