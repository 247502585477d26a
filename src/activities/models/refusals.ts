import { causesOf, TransportError } from './transport';
import type { Complete, ModelReply, ModelRequest } from './model';

/** Parts of streaming that a server may refuse: all of it, or to send the usage at its end. */
type Refusal = 'stream' | 'stream_options';

/**
 * Asks without what a server refuses of streaming, and remembers it as long as the process lives. The reply lists it
 * among what was dropped. The request that was refused cost nothing.
 */
export function withoutRefused(complete: Complete): Complete {
  const refused = new Map<string, readonly Refusal[]>();

  async function ask(request: ModelRequest, without: readonly Refusal[]): Promise<ModelReply> {
    try {
      const reply = await complete(leaveOut(request, without));
      return { ...reply, dropped: [...reply.dropped, ...without] };
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal === null || without.includes(refusal)) throw error;
      const more = [...without, refusal];
      const reply = await ask(request, more);
      refused.set(placeOf(request), more);
      return reply;
    }
  }

  return (request) => {
    if (request.card.idleTimeoutMs === undefined) return complete(request);
    return ask(request, refused.get(placeOf(request)) ?? []);
  };
}

function placeOf({ card: { provider, api, baseUrl, model } }: ModelRequest): string {
  return JSON.stringify([provider, api, baseUrl, model]);
}

function leaveOut(request: ModelRequest, without: readonly Refusal[]): ModelRequest {
  if (without.includes('stream')) return { ...request, card: { ...request.card, idleTimeoutMs: undefined } };
  return without.includes('stream_options') ? { ...request, withoutStreamOptions: true } : request;
}

const REFUSING: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 501]);

/** Servers refuse in words of their own, but name the field or the method. */
function refusalIn(error: unknown): Refusal | null {
  const problem = causesOf(error).find((cause) => cause instanceof TransportError)?.problem;
  if (problem === undefined || !('status' in problem) || !REFUSING.has(problem.status)) return null;
  const [word] = /\bstream(?:_options)?/i.exec(problem.body.slice(0, 16_384)) ?? [];
  if (word === undefined) return null;
  return word === 'stream_options' ? 'stream_options' : 'stream';
}
