import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { unlessNotFound } from '../../client';
import type { ConversationTurn } from '../../protocol/input';
import type { SolveResult } from '../../protocol/solve';
import { Shared, within } from '../../runtime/turns';
import { callsOfCaller } from '../../trace/waiting-calls';
import { noteAudit } from '../access/audit';
import type { Source } from '../access/streams';
import { IGNORE_HEADER } from '../solve/request-fields';
import { stopping } from '../closing';
import { streamEvents } from '../event-stream';
import { beginAnswer, leave, unlessLeft } from '../solve/answer';
import { endWithSolve } from '../solve/answer-end';
import type { App, Env, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { logOf } from '../log-of';
import { type Refusal, refusalOfRun } from '../refusal';
import { bodyOf, jsonOf, jsonOrEventsOf, refusals } from '../routes';
import { readConversation, turnsOfConversation } from '../solve/conversation';
import { Replay } from '../solve/replay';
import { headersOf, solveHeader, spentIn } from '../solve/facts';
import { isRecordedToEnd } from '../solve/transcript';
import type { SurfaceQuestion } from '../solve/surface-question';
import { type ResponseBody, responseOf, responseSchema } from './response-object';
import type { ResponseEvent } from './response-events';
import {
  endOfResponse,
  followResponse,
  type FoundResponse,
  lengthOf,
  ResponseFrames,
} from './response-stream';
import { findResponse, keepNotes } from './response-notes';
import { askedOfResponse, notesOf, type ResponseRequest, responseRequestSchema } from './responses-schema';

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
    const asked = await readRequest(gateway, key, body, c.req.header(IGNORE_HEADER));
    // Before the start: a refused request must cost nothing.
    const tellSource = body.stream === true ? gateway.streams.open(c.get('key'), c.env.outgoing) : null;
    const notes = notesOf(body, asked, gateway.config);
    const isAwaited = body.background !== true || body.stream === true;
    const answered = await beginAnswer(c, gateway, asked, { memo: { response: notes }, isAwaited });
    await keepNotes(gateway, answered, notes);
    const found = await findResponse(gateway, key, `resp_${answered.id}`);
    if (tellSource !== null) return stream(c, found, { tellSource, onGone: () => void leave(answered) });
    if (body.background === true)
      return c.json(await responseNow(gateway, found), 200, solveHeader(found.place.id));
    const { response, headers } = await unlessLeft(answered, c.req.raw.signal, () => ended(gateway, found));
    return c.json(response, 200, headers);
  });

  app.openapi(retrieveRoute, async (c) => {
    const found = await findResponse(gateway, c.get('key'), c.req.valid('param').id);
    const { stream: isStream, starting_after: after } = c.req.valid('query');
    if (isStream === 'true')
      return stream(c, found, { tellSource: gateway.streams.open(c.get('key'), c.env.outgoing), after });
    return c.json(await responseNow(gateway, found), 200, solveHeader(found.place.id));
  });

  app.openapi(cancelRoute, async (c) => {
    const key = c.get('key');
    const found = await findResponse(gateway, key, c.req.valid('param').id);
    const { status } = await gateway.conductor.trace(found.place.id);
    if (status === 'running') await cancel(gateway, key, found);
    return c.json(await responseNow(gateway, found), 200, solveHeader(found.place.id));
  });
}

/** Reads a request, with the conversation that it continues unless it brings results that a solve waits for. */
async function readRequest(
  gateway: Gateway,
  key: Key,
  body: ResponseRequest,
  ignored: string | undefined,
): Promise<SurfaceQuestion> {
  const asked = askedOfResponse(body, [], ignored);
  if (asked.handed !== undefined || body.previous_response_id == null) return asked;
  return askedOfResponse(body, await turnsBefore(gateway, key, body.previous_response_id), ignored);
}

/** Returns a response as it is now. */
async function responseNow(gateway: Gateway, found: FoundResponse): Promise<ResponseBody> {
  const result = await gateway.conductor.trace(found.place.id);
  const isLeft = found.notes.asks !== undefined && (await isEnding(gateway, found, result));
  if (isLeft) return endOfResponse(gateway, found);
  return responseOf(found, { result, calls: [], spent: spentIn(result) });
}

/** Whether a response that may end with calls has ended, or does once its events are read. */
async function isEnding({ store }: Gateway, { id }: FoundResponse, result: SolveResult): Promise<boolean> {
  if (result.status !== 'running' || callsOfCaller(result).length > 0) return true;
  return isRecordedToEnd(store, id);
}

/** Waits for the end of a response. @throws Refusal if its solve ends without an answer */
async function ended(gateway: Gateway, found: FoundResponse) {
  if (found.notes.asks !== undefined) {
    const response = await endOfResponse(gateway, found);
    const { status, usage } = response;
    if (status !== 'completed' && status !== 'incomplete') throw refusalOfRun(await found.solve.result());
    const { input_tokens: input = 0, output_tokens: output = 0, cost = 0 } = usage ?? {};
    return { response, headers: headersOf(found.place.id, { input, output, nanoUsd: cost * 1e9 }) };
  }
  const facts = await endWithSolve(gateway, found.place, await found.solve.result());
  if (facts.result.answer === null) throw refusalOfRun(facts.result);
  return { response: responseOf(found, facts), headers: headersOf(found.place.id, facts.spent) };
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
        for await (const event of replay.read(gone)) {
          // A stream that ends with a failure has no answer, though nothing of it was lost.
          if (event.type === 'response.failed') c.set('refused', refusalOfRun(await found.solve.result()));
          yield event;
        }
      } catch (error) {
        followed.forget(name, replay);
        throw error;
      } finally {
        end();
      }
    };
    const frames = new ResponseFrames(after);
    const framed = {
      open: (gone: AbortSignal) => frames.of(events(gone)),
      nothing: () => frames.nothing(),
      failed: (refusal: Refusal) => frames.failed(refusal),
      stop: { signal: gateway.closing.over, refusal: stopping(found.place.id) },
      say: logOf(c, gateway, found.solve.id),
      onGone,
    };
    return streamEvents(c, framed, solveHeader(found.id));
  };
}

/** Timeout for a cancellation, which never completes without a worker. */
const CANCEL_MS = 10_000;

async function cancel(
  { conductor, store }: Gateway,
  key: Key,
  { place: { id }, solve }: FoundResponse,
): Promise<void> {
  // The solve may have ended meanwhile.
  await unlessNotFound(conductor.cancel(id));
  await noteAudit(store, { keyId: key.id, keyName: key.name, action: 'cancel', target: id });
  await within(CANCEL_MS, solve.result());
}

/** Returns the conversation up to and including a response, without its instructions. */
async function turnsBefore(gateway: Gateway, key: Key, responseId: string): Promise<ConversationTurn[]> {
  const { place, notes } = await findResponse(gateway, key, responseId);
  const name = { param: 'previous_response_id', value: responseId };
  return turnsOfConversation(await readConversation(gateway, place.id), name).slice(
    notes.isInstructed ? 1 : 0,
  );
}
