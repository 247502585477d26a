import { hash } from 'node:crypto';
import { causesOf, MOST_READ } from './diagnose';
import { TransportError } from './transport';
import type { Complete, ModelReply, ModelRequest } from './model';

/** Features that a server may refuse: streaming, usage at the end of a stream, or a schema for the output. */
type Refusal = 'stream' | 'stream_options' | 'outputSchema';

/**
 * Retries a request without the features that a server refuses, and remembers them for the life of the process. The
 * reply lists them as dropped. A refused request costs nothing, and prompts describe the required output themselves.
 */
export function withoutRefused(complete: Complete): Complete {
  const bySettings = new Map<string, readonly Refusal[]>();
  // Schemas are the callers': they share a bounded memory, apart from that of the servers.
  const bySchema = new Map<string, readonly Refusal[]>();

  async function ask(request: ModelRequest, without: readonly Refusal[]): Promise<ModelReply> {
    try {
      const reply = await complete(leaveOut(request, without));
      return { ...reply, dropped: [...reply.dropped, ...without] };
    } catch (error) {
      const refusal = refusalIn(error, request);
      if (refusal === null || without.includes(refusal)) throw error;
      const more = [...without, refusal];
      const reply = await ask(request, more);
      if (request.outputSchema === undefined) bySettings.set(placeOf(request), more);
      else remember(bySchema, placeOf(request), more);
      return reply;
    }
  }

  return (request) => {
    if (request.card.idleTimeoutMs === undefined && !request.outputSchema) return complete(request);
    const known = (request.outputSchema ? bySchema : bySettings).get(placeOf(request));
    return ask(request, known ?? []);
  };
}

/** Schemas remembered. A forgotten one costs another refused request, which is free. */
export const MOST_SCHEMAS = 100;

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  const [oldest] = memory.keys();
  if (memory.size > MOST_SCHEMAS && oldest !== undefined) memory.delete(oldest);
}

/** Returns the key of remembered refusals. A server may refuse one schema and accept another. */
function placeOf({ card: { provider, api, baseUrl, model }, outputSchema }: ModelRequest): string {
  return hash('sha256', JSON.stringify([provider, api, baseUrl, model, outputSchema]));
}

function leaveOut({ card, ...request }: ModelRequest, without: readonly Refusal[]): ModelRequest {
  return {
    ...request,
    card: without.includes('stream') ? { ...card, idleTimeoutMs: undefined } : card,
    ...(without.includes('stream_options') && { withoutStreamOptions: true }),
    ...(without.includes('outputSchema') && { outputSchema: undefined }),
  };
}

const REFUSING: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 501]);

/** Finds the refused feature. Each server words a refusal differently, but names the field or the method. */
function refusalIn(error: unknown, { card, outputSchema }: ModelRequest): Refusal | null {
  const words = wordsOfRefusal(error);
  const [streaming] = card.idleTimeoutMs === undefined ? [] : (/\bstream(?:_options)?/i.exec(words) ?? []);
  if (streaming !== undefined) return streaming === 'stream_options' ? 'stream_options' : 'stream';
  return outputSchema !== undefined && NAMES_SCHEMA.test(words) ? 'outputSchema' : null;
}

/** Returns the body of a response that refuses a request, or an empty text for any other error. */
function wordsOfRefusal(error: unknown): string {
  const answer = causesOf(error).find((cause) => cause instanceof TransportError)?.answer;
  return answer && REFUSING.has(answer.status) ? answer.body.slice(0, MOST_READ) : '';
}

/** Vendors' names for the fields that carry a schema, and the word itself. */
const NAMES_SCHEMA = /schema|response_?format|output_config|output_format/i;
