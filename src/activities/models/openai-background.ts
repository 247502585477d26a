import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import { readHttpError } from './http-error';
import type { ModelRequest, Progress } from './model';
import { bodyOf, replyOf, responseSchema, type ResponseSettings } from './openai-responses';
import { readReply } from './read-reply';

/**
 * OpenAI's background mode (developers.openai.com/api/docs/guides/background): the first request brings an id at once,
 * and the answer is asked for by that id until its status is a final one.
 *
 * It is asked for with `store: true`, whatever the vendor's default: background answers were refused without it, and
 * today those without it are gone after some ten minutes, which a worker that was lost may need longer than.
 */
const backgroundSchema = responseSchema.extend({
  id: z.string().min(1),
  /** Servers that know no background answer at once, some of them without a status. */
  status: z.string().nullish(),
  output: responseSchema.shape.output.nullish().transform((output) => output ?? []),
  error: z.object({ message: z.string(), code: z.string().nullish() }).nullish(),
});

const UNFINISHED = new Set<unknown>(['queued', 'in_progress']);

/** Has a response begun. The id is all it takes to come back to it. */
export async function beginResponse(
  client: OpenAI,
  request: ModelRequest,
  settings: ResponseSettings,
): Promise<{ id: string; progress: Progress }> {
  const body = { ...bodyOf(request, settings), background: true, store: true };
  const response = await client.responses.create(body, { signal: request.signal }).asResponse();
  const read = readReply(backgroundSchema, await response.json());
  return { id: read.id, progress: progressOf(read, settings) };
}

/** Asks how far a response is. */
export async function lookAtResponse(
  client: OpenAI,
  { signal }: ModelRequest,
  settings: ResponseSettings,
  id: string,
): Promise<Progress> {
  try {
    const response = await client.responses.retrieve(id, {}, { signal }).asResponse();
    return progressOf(readReply(backgroundSchema, await response.json()), settings);
  } catch (error) {
    if (readHttpError(error)?.status === 404) return { status: 'lost' };
    throw error;
  }
}

/** Has a response given up; by the guide, cancelling what is over changes nothing and returns it as it ended. */
export async function cancelResponse(
  client: OpenAI,
  { signal }: ModelRequest,
  settings: ResponseSettings,
  id: string,
): Promise<Progress> {
  const response = await client.responses.cancel(id, { signal }).asResponse();
  return progressOf(readReply(backgroundSchema, await response.json()), settings);
}

function progressOf(response: z.output<typeof backgroundSchema>, settings: ResponseSettings): Progress {
  const { status, error } = response;
  if (UNFINISHED.has(status)) return { status: 'running' };
  const reply = replyOf(response, settings);
  if (status === 'cancelled') return { status, reply };
  if (status !== 'failed' && !error) return { status: 'answered', reply };
  return { status: 'failed', reply, code: error?.code ?? '', reason: error?.message ?? '' };
}
