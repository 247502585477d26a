import { anthropic } from './anthropic';
import { google } from './google';
import { openAiChat } from './openai-chat';
import { openAiResponses } from './openai-responses';
import type { Wire } from './wire';

/** Which protocol an address speaks, and what the address itself says. */
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
