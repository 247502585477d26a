import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { type ErrorFaultKind, ERRORS } from '../faults';
import type { StreamEvent } from '../stream';

export type Protocol = 'openai-chat' | 'openai-responses' | 'anthropic' | 'google';

export interface Prompt {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number | null;
  /** OpenAI's background mode: the caller wants an id now and fetches the answer later. */
  readonly background?: true;
  /** Set if the caller wants a stream; `usage`: with usage at the end, if the vendor sends it only on request. */
  readonly streams?: { readonly usage: boolean };
  /** Prompt prefix that Anthropic's cache is to keep, as one text. */
  readonly keptPrefix?: string;
}

export interface WholeReply {
  readonly model: string;
  readonly sequence: number;
  readonly text: string;
  readonly finish: 'stop' | 'length' | 'refusal' | 'filtered';
  readonly refusal: string | null;
  readonly usage: Usage;
  /** Usage that the reply states; null if it states none. */
  readonly stated: Usage | null;
}

interface WireError {
  readonly status: number;
  readonly body: object;
}

/** One vendor's HTTP protocol. */
export interface Wire {
  readonly protocol: Protocol;
  readonly requestIdHeader: string;
  /** Reads a JSON body; throws a `z.ZodError` if the vendor would respond with 400. */
  decode(body: unknown, modelInPath: string | null): Prompt;
  encodeReply(reply: WholeReply): object;
  /** Encodes a reply as a stream that sends its text in `pieces`. `usage`: the caller asked for usage at the end. */
  encodeStream(reply: WholeReply, pieces: readonly string[], usage: boolean): StreamEvent[];
  /** `retryAfterMs`: delay that the body itself states, if the vendor does so. */
  encodeError(kind: ErrorFaultKind, message: string, retryAfterMs: number | null): WireError;
}

/** A string or a list of text parts; other parts, such as images, are not simulated. */
export const textContent = z.union([
  z.string(),
  z.array(z.object({ text: z.string() })).transform((parts) => parts.map((part) => part.text).join('')),
]);

export const tokenLimit = z.int().positive().nullish();

export const openAiMessages = z
  .array(
    z
      .object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: textContent })
      .transform(({ role, content: text }): Message => ({
        role: role === 'developer' ? 'system' : role,
        text,
      })),
  )
  .min(1);

/** OpenAI's error body, the same in both of its APIs (platform.openai.com/docs/guides/error-codes). */
export function encodeOpenAiError(kind: ErrorFaultKind, message: string): WireError {
  const [status, type, code] = ERRORS[kind];
  return { status, body: { error: { message, type, param: null, code } } };
}
