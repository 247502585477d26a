import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { unlessNotFound } from '../../client';
import type { ConversationTurn } from '../../protocol/input';
import { Shared, within } from '../../runtime/turns';
import { noteAudit } from '../access/audit';
import type { Source } from '../access/streams';
import { IGNORE_HEADER } from '../solve/request-fields';
import { stopping } from '../closing';
import { streamEvents } from '../event-stream';
import { leave, waitForResult } from '../solve/answer';
import type { App, Env, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { Refusal } from '../refusal';
import { bodyOf, jsonOf, jsonOrEventsOf, refusals } from '../routes';
import { readConversation, turnsOfConversation } from '../solve/conversation';
import { Replay } from '../solve/replay';
import { requestOf } from '../solve/request-of';
import { booking, mayTouch, startSolve } from '../solve/start-solve';
import { headersOf, solveHeader } from '../solve/facts';
import { responseOf, responseSchema } from './response-object';
import type { ResponseEvent } from './response-events';
import { followResponse, type FoundResponse, lengthOf, ResponseFrames } from './response-stream';
import { askedOfResponse, notesOf, notesSchema, responseRequestSchema } from './responses-schema';

const askRoute = createRoute({
  method: 'post',
  path: '/v1/responses',
  summary: "Answer a conversation in the format of OpenAI's responses",
  request: { body: bodyOf(responseRequestSchema) },
  responses: { 200: jsonOrEventsOf(responseSchema, 'The response; with `stream`, its events'), ...refusals },
});

const idParams = z.object({ id: z.string() });

const retrieveRoute = createRoute({
  method: 'get',
  path: '/v1/responses/{id}',
  summary: 'Read a response, or resume its stream',
  request: {
    params: idParams,
    query: z.object({
      stream: z.enum(['true', 'false']).optional(),
      /** Number of the last event that the client has. */
      starting_after: z.coerce.number().pipe(z.int().min(0)).optional(),
    }),
  },
  responses: { 200: jsonOrEventsOf(responseSchema, 'The response; with `stream`, its events'), ...refusals },
});

const cancelRoute = createRoute({
  method: 'post',
  path: '/v1/responses/{id}/cancel',
  summary: 'Cancel a running response',
  request: { params: idParams },
  responses: { 200: jsonOf(responseSchema, 'The response as it ended'), ...refusals },
});

/** https://platform.openai.com/docs/api-reference/responses */
export function addResponses(app: App, gateway: Gateway): void {
  const stream = streaming(gateway);
  app.openapi(askRoute, async (c) => {
    const body = c.req.valid('json');
    const key = c.get('key');
    const before = await turnsBefore(gateway, key, body.previous_response_id);
    const asked = askedOfResponse(body, before, c.req.header(IGNORE_HEADER));
    // Before the start: a refused request must cost nothing.
    const tellSource = body.stream === true ? gateway.streams.open(c.get('key'), c.env.outgoing) : null;
    const named = { model: body.model, memo: { response: notesOf(body, asked) } };
    const started = await startSolve(c, gateway, requestOf(gateway.config, key, asked), named);
    c.set('solve', started.id);
    const found = await findResponse(gateway, key, `resp_${started.id}`);
    const answered = { gateway, started };
    if (tellSource !== null) {
      return stream(c, found, { tellSource, onGone: () => void leave(answered, asked) });
    }
    if (body.background === true) {
      const result = await gateway.conductor.trace(found.id);
      return c.json(responseOf(found, result), 200, solveHeader(found.id));
    }
    const result = await waitForResult(answered, asked, c.req.raw.signal);
    return c.json(responseOf(found, result), 200, headersOf(result));
  });

  app.openapi(retrieveRoute, async (c) => {
    const found = await findResponse(gateway, c.get('key'), c.req.valid('param').id);
    const { stream: isStream, starting_after: after } = c.req.valid('query');
    if (isStream === 'true')
      return stream(c, found, { tellSource: gateway.streams.open(c.get('key'), c.env.outgoing), after });
    return c.json(responseOf(found, await gateway.conductor.trace(found.id)), 200, solveHeader(found.id));
  });

  app.openapi(cancelRoute, async (c) => {
    const key = c.get('key');
    const found = await findResponse(gateway, key, c.req.valid('param').id);
    const { status } = await gateway.conductor.trace(found.id);
    if (status === 'running') await cancel(gateway, key, found);
    return c.json(responseOf(found, await gateway.conductor.trace(found.id)), 200, solveHeader(found.id));
  });
}

interface StreamOptions {
  readonly tellSource: (source: Source) => void;
  readonly after?: number | undefined;
  readonly onGone?: () => void;
}

/** Returns a function that streams a response; all streams of one have the same events. */
function streaming(gateway: Gateway) {
  const followed = new Shared<Replay<ResponseEvent>>();
  return (
    c: Context<Env>,
    found: FoundResponse,
    { tellSource, after = -1, onGone }: StreamOptions,
  ): Response => {
    // Its key pays for a response when its end is read.
    const name = `${c.get('key').id} ${found.id}`;
    const open = (closing: AbortSignal): Replay<ResponseEvent> =>
      new Replay(followResponse(gateway, found, closing), lengthOf);
    const events = async function* (gone: AbortSignal): AsyncGenerator<ResponseEvent> {
      const { value: replay, leave: end } = followed.use(name, open);
      tellSource({ name, length: () => replay.length });
      try {
        yield* replay.read(gone);
      } catch (error) {
        followed.forget(name, replay);
        throw error;
      } finally {
        end();
      }
    };
    const frames = new ResponseFrames(after, gateway.say);
    const framed = {
      open: (gone: AbortSignal) => frames.of(events(gone)),
      nothing: () => frames.nothing(),
      failed: (error: unknown) => frames.failed(error),
      stop: { signal: gateway.closing.over, frame: () => frames.failed(stopping(found.id)) },
      onGone,
    };
    return streamEvents(c, framed, solveHeader(found.id));
  };
}

/** Timeout for a cancellation, which never completes without a worker. */
const CANCEL_MS = 10_000;

async function cancel({ conductor, store }: Gateway, key: Key, { id, solve }: FoundResponse): Promise<void> {
  // The solve may have ended meanwhile.
  await unlessNotFound(conductor.cancel(id));
  await noteAudit(store, { keyId: key.id, keyName: key.name, action: 'cancel', target: id });
  await within(CANCEL_MS, solve.result());
}

/** Id of a response: OpenAI's prefix, then the id of its solve. */
const RESPONSE_ID = /^resp_([\w-]{1,200})$/;

/** @throws Refusal if the response does not exist or belongs to another key */
async function findResponse(gateway: Gateway, key: Key, responseId: string): Promise<FoundResponse> {
  const id = RESPONSE_ID.exec(responseId)?.[1];
  if (id !== undefined && mayTouch(key, id)) {
    const solve = await unlessNotFound(gateway.conductor.attach(id));
    const notes = notesSchema.safeParse(solve?.memo.response).data;
    if (solve !== null && notes !== undefined) return { id, notes, solve: booking(gateway, key, solve) };
  }
  const shown = JSON.stringify(responseId.slice(0, 100));
  const remedy = 'send the id as it was returned, with the key that asked for it';
  const message = `this key has no response ${shown}: it may have expired, as Temporal keeps no run for ever; else ${remedy}`;
  throw new Refusal(404, message, { reason: 'response_not_found' });
}

/** Returns the conversation up to and including a response, without its instructions. */
async function turnsBefore(
  gateway: Gateway,
  key: Key,
  responseId: string | null | undefined,
): Promise<ConversationTurn[]> {
  if (responseId == null) return [];
  const { id, notes } = await findResponse(gateway, key, responseId);
  const name = { param: 'previous_response_id', value: responseId };
  return turnsOfConversation(await readConversation(gateway, id), name).slice(notes.isInstructed ? 1 : 0);
}
