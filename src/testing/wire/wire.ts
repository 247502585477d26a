import { hash } from 'node:crypto';
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
  /** Names of the tools that the model may call; absent if there are none. */
  readonly tools?: readonly string[] | undefined;
  /** The model must call one of them. */
  readonly mustCall?: true | undefined;
  /** Calls and results of earlier turns, in order. */
  readonly exchanged?: readonly Exchanged[];
  /** Prompt prefix that Anthropic's cache is to keep, as one text. */
  readonly keptPrefix?: string;
}

/** A tool's call in a reply. */
export interface SimulatedCall {
  readonly name: string;
  /** Text of the arguments if it is not to be JSON of an object. */
  readonly input: object | string;
  /** The tool takes a text, which `input` is. The Responses API alone has such tools. */
  readonly takesText?: true;
  /** Default: an id in the vendor's style; null: none is sent. */
  readonly id?: string | null;
}

/** A call of an earlier turn, or the result of one, as a request brings it back. */
export interface Exchanged {
  readonly kind: 'call' | 'result';
  readonly id: string;
  readonly name: string | null;
  /** JSON of the arguments, or the text of the result. */
  readonly text: string;
}

/** Returns the mark by which a vendor knows its own thoughts again. */
export function sign(text: string, sequence: number): string {
  return `simulated-${sequence}-${hash('sha256', `${sequence} ${text}`).slice(0, 12)}`;
}

export function isSigned(text: string, signature: string): boolean {
  const [, sequence = ''] = /^simulated-(\d+)-/.exec(signature) ?? [];
  return sequence !== '' && sign(text, Number(sequence)) === signature;
}

/** Part of the ids of calls whose reply had thoughts, so that a request that leaves these out can be refused. */
const THOUGHT = '_thought_';

export function idsOf(prefix: string, { sequence, thoughts, calls }: WholeReply): (string | null)[] {
  return calls.map(({ id }, index) =>
    id === undefined ? `${prefix}${thoughts === '' ? '_' : THOUGHT}${sequence}_${index}` : id,
  );
}

export function wantsThoughts(id: string): boolean {
  return id.includes(THOUGHT);
}

/** @throws Error, which the vendor would answer with 400 */
export function refuseRequest(problem: string): never {
  throw new z.ZodError([{ code: 'custom', path: [], message: problem, input: undefined }]);
}

/** Refuses an exchange that leaves a call without its result, as the vendors do. */
export function checkPaired(exchanged: readonly Exchanged[]): void {
  const open = new Set<string>();
  for (const { kind, id } of exchanged) {
    if (kind === 'call') {
      if (open.has(id)) refuseRequest(`Two calls have the id ${id}.`);
      open.add(id);
    } else if (!open.delete(id)) refuseRequest(`The result ${id} is of no call before it.`);
  }
  for (const id of open) refuseRequest(`The call ${id} has no result.`);
}

export function inputText({ input }: SimulatedCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

export interface WholeReply {
  readonly model: string;
  readonly sequence: number;
  readonly text: string;
  readonly finish: 'stop' | 'length' | 'refusal' | 'filtered';
  readonly refusal: string | null;
  /** Thoughts that the vendor signs and wants back with the calls; '' if there are none. */
  readonly thoughts: string;
  readonly calls: readonly SimulatedCall[];
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
