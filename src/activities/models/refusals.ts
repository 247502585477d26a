import { hash } from 'node:crypto';
import { causesOf, TransportError } from './transport';
import type { Complete, ModelReply, ModelRequest } from './model';

/** What a server may refuse: to stream, to send the usage at the end of a stream, or to hold its output to a schema. */
type Refusal = 'stream' | 'stream_options' | 'outputSchema';

/**
 * Asks without what a server refuses, and remembers it as long as the process lives. The reply lists it among what was
 * dropped. The request that was refused cost nothing; prompts say by themselves what the output must be like.
 */
export function withoutRefused(complete: Complete): Complete {
  const refused = new Map<string, readonly Refusal[]>();

  async function ask(request: ModelRequest, without: readonly Refusal[]): Promise<ModelReply> {
    try {
      const reply = await complete(leaveOut(request, without));
      return { ...reply, dropped: [...reply.dropped, ...without] };
    } catch (error) {
      const refusal = refusalIn(error, request);
      if (refusal === null || without.includes(refusal)) throw error;
      const more = [...without, refusal];
      const reply = await ask(request, more);
      refused.set(placeOf(request), more);
      return reply;
    }
  }

  return (request) => {
    if (request.card.idleTimeoutMs === undefined && !request.outputSchema) return complete(request);
    return ask(request, refused.get(placeOf(request)) ?? []);
  };
}

/** One schema may be refused where another one is taken. */
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

/** Servers refuse in words of their own, but name the field or the method. */
function refusalIn(error: unknown, { card, outputSchema }: ModelRequest): Refusal | null {
  const words = wordsOfRefusal(error);
  const [streaming] = card.idleTimeoutMs === undefined ? [] : (/\bstream(?:_options)?/i.exec(words) ?? []);
  if (streaming !== undefined) return streaming === 'stream_options' ? 'stream_options' : 'stream';
  return outputSchema !== undefined && NAMES_SCHEMA.test(words) ? 'outputSchema' : null;
}

/** The body of a response that refuses a request; empty for any other error. */
function wordsOfRefusal(error: unknown): string {
  const problem = causesOf(error).find((cause) => cause instanceof TransportError)?.problem;
  const isRefusal = problem !== undefined && 'status' in problem && REFUSING.has(problem.status);
  return isRefusal ? problem.body.slice(0, 16_384) : '';
}

/** Fields of the vendors' that carry a schema, and their word for it. */
const NAMES_SCHEMA = /schema|response_?format|output_config|output_format/i;
