import { z } from 'zod';
import type { Route } from './route';
import type { Prompt } from './wire';

/** Reads a request as its vendor would; what the vendor would not take comes back as a sentence. */
export function decodePrompt(route: Route, body: string): Prompt | { readonly problem: string } {
  const json = parseJson(body);
  if (json === undefined) return { problem: 'The request body is no JSON.' };
  try {
    const { prompt, stream } = route.wire.decode(json, route.modelInPath);
    if (!stream && !route.streams) return prompt;
    return { problem: 'Streaming is not simulated: send the request without `stream`.' };
  } catch (error) {
    if (error instanceof z.ZodError) return { problem: z.prettifyError(error) };
    throw error;
  }
}

/** undefined, which JSON cannot say, stands for a text that is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
