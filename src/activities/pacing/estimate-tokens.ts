import type { ModelCall } from '../model-call';

/** Of English text, in the tokenizers of all large vendors; other languages come to fewer bytes, and are set right after. */
const BYTES_PER_TOKEN = 4;

/** How many tokens a call takes at its provider, before anybody counted: its words, and all it may answer. */
export function estimateTokens({ messages, maxOutputTokens }: ModelCall): number {
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return Math.ceil(bytes / BYTES_PER_TOKEN) + maxOutputTokens;
}
