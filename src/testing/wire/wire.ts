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
  /** Asked to be answered as a stream, and whether with its usage at the end, where that must be asked for. */
  readonly streams?: { readonly usage: boolean };
  /** The beginning of it that Anthropic's cache is to keep, as one text. */
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
  /** Reads a JSON body; throws a `z.ZodError` where the vendor would say 400. */
  decode(body: unknown, modelInPath: string | null): Prompt;
  encodeReply(reply: WholeReply): object;
  /** Encodes a reply as a stream that sends its text in `pieces`. `usage`: the caller asked for usage at the end. */
  encodeStream(reply: WholeReply, pieces: readonly string[], usage: boolean): StreamEvent[];
  /** `retryAfterMs` is a delay stated in the body itself, where the vendor does that. */
  encodeError(kind: ErrorFaultKind, message: string, retryAfterMs: number | null): WireError;
}

/** A string or a list of text parts; others, such as images, are not simulated. */
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
