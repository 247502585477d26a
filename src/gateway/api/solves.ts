import { createRoute, z } from '@hono/zod-openapi';
import { type AskedRequest, describeRun, type LiveEvent, readCursor } from '../../client';
import { putInWords } from '../../plan/prompt/told-calls';
import { conversationTurnSchema, limitsInputSchema, poolSchema } from '../../protocol/input';
import { SOLVE_WORKFLOWS } from '../../protocol/names';
import { CONDUCTOR_MODEL } from '../../protocol/rights';
import { sourceOf } from '../solve/answer';
import { RUN_STATES } from '../../trace/run-filter';
import { MOST_ITEMS } from '../solve/request-fields';
import { readSchema } from '../solve/request-form';
import { type EventFrame, frameOf, streamEvents } from '../event-stream';
import type { App, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { logOf } from '../log-of';
import { badRequest, Refusal, toOpenAiError } from '../refusal';
import { readModel, withModel } from '../solve/request-of';
import { bodyOf, jsonOf, refusals, resultSchema } from '../routes';
import { readConversation, readReplies, readSentPrompt, turnsOfConversation } from '../solve/conversation';
import { bookLater, callerOf, mayTouch, prefixOf, startSolve } from '../solve/start-solve';

const askedSchema = z
  .strictObject({
    question: z.string().optional(),
    /** Id of an answered solve whose conversation the question continues. */
    after: z.string().min(1).max(1000).optional(),
    messages: z.array(conversationTurnSchema).min(1).max(MOST_ITEMS).optional(),
    /** A name from `GET /v1/models`, or `conductor/` and the id of a checkpoint. */
    model: z.string().default(CONDUCTOR_MODEL),
    pool: poolSchema.optional(),
    limits: limitsInputSchema.optional(),
    seed: z.int().optional(),
    approval: z.enum(['plan', 'all']).optional(),
    answerSchema: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('SolveRequest');

export const idSchema = z.object({ id: z.string().min(1).max(1000) });
export const startedSchema = z
  .object({ id: z.string(), runId: z.string(), isNew: z.boolean() })
  .openapi('Started');

const listedSchema = z
  .object({
    id: z.string(),
    runId: z.string(),
    status: z.enum(['running', 'completed', 'failed', 'cancelled']),
    waitsFor: z.enum(['approval', 'caller', 'limit', 'store', 'pause']).nullable(),
    hasWorker: z.boolean().nullable(),
    question: z.string().nullable(),
    problems: z.array(z.string()).readonly(),
    workers: z.array(z.string()).readonly(),
    costUsd: z.number().nullable(),
    costIsLowerBound: z.boolean(),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
  })
  .openapi('ListedSolve');

const startRoute = createRoute({
  method: 'post',
  path: '/api/solves',
  summary: 'Start a solve, and return at once',
  request: { body: bodyOf(askedSchema) },
  responses: {
    202: jsonOf(startedSchema, 'The solve that this request, or an earlier attempt of it, started'),
    ...refusals,
  },
});

const listRoute = createRoute({
  method: 'get',
  path: '/api/solves',
  summary: "List the key's solves, or all with an admin key: unfinished ones first",
  request: {
    query: z.object({
      limit: z.coerce.number().int().min(0).max(100).default(10),
      endedBefore: z.iso.datetime().optional(),
      state: z.enum(RUN_STATES).optional(),
      /** The first included, the second not. */
      startedFrom: z.iso.datetime().optional(),
      startedBefore: z.iso.datetime().optional(),
      /** Sought in what the list shows of a solve. */
      words: z.string().max(200).optional(),
    }),
  },
  responses: {
    200: jsonOf(
      z.object({
        runs: z.array(listedSchema).readonly(),
        unlisted: z.int(),
        earlier: z.string().nullable(),
      }),
      'At most `limit` that have ended; `unlisted` counts unfinished ones beyond a hundred. For earlier ones, send `earlier` as `endedBefore`: only solves that ended by then. Words are sought in at most 500 ended ones at a time',
    ),
    ...refusals,
  },
});

const readRoute = createRoute({
  method: 'get',
  path: '/api/solves/{id}',
  summary: 'Read a solve as it is now, running or ended',
  request: { params: idSchema },
  responses: { 200: jsonOf(resultSchema, 'Its plans, steps, calls, cost and answer'), ...refusals },
});

const conversationRoute = createRoute({
  method: 'get',
  path: '/api/solves/{id}/conversation',
  summary: 'Read all turns of the conversation that a solve answers, the question last',
  request: { params: idSchema },
  responses: { 200: jsonOf(z.array(conversationTurnSchema).readonly(), 'The turns'), ...refusals },
});

const promptRoute = createRoute({
  method: 'get',
  path: '/api/solves/{id}/prompt',
  summary: 'Read what a step of a solve, or of its child, sent to its model',
  request: {
    params: idSchema,
    /** Both count from 0. */
    query: z.object({
      round: z.coerce.number().int().min(0).default(0),
      step: z.coerce.number().int().min(0).default(0),
    }),
  },
  responses: {
    200: jsonOf(
      z.array(z.object({ role: z.enum(['system', 'user', 'assistant']), text: z.string() })).readonly(),
      'The messages of its latest attempt',
    ),
    ...refusals,
  },
});

const repliesRoute = createRoute({
  method: 'get',
  path: '/api/solves/{id}/replies',
  summary: 'Read what the Conductor wrote for a round, counted from 0, of a solve or of its child',
  request: {
    params: idSchema,
    query: z.object({ round: z.coerce.number().int().min(0).default(0) }),
  },
  responses: { 200: jsonOf(z.array(z.string()).readonly(), 'Its replies, reasoning included'), ...refusals },
});

const eventsRoute = createRoute({
  method: 'get',
  path: '/api/solves/{id}/events',
  summary:
    'Follow a solve: events for its plans, steps, their texts and calls of tools, reviews, waits and end',
  request: {
    params: idSchema,
    query: z.object({ after: z.string().optional() }),
    headers: z.object({ 'last-event-id': z.string().optional() }),
  },
  responses: {
    200: {
      content: { 'text/event-stream': { schema: z.string() } },
      description:
        '`event` is the kind of an event, `id` its position. To resume, send the last id as `Last-Event-ID` or `after`',
    },
    204: { description: 'The end was already sent: nothing is left' },
    ...refusals,
  },
});

export function addSolves(app: App, gateway: Gateway): void {
  const { conductor, config, closing } = gateway;
  app.openapi(startRoute, async (c) => {
    const key = c.get('key');
    const asked = c.req.valid('json');
    const { model } = asked;
    const request = { ...(await requestOf(gateway, key, asked)), traceparent: callerOf(c) };
    const started = await startSolve(c, gateway, request, { model });
    if (started.isNew) bookLater(key, started);
    const { id, runId, isNew } = started;
    return c.json({ id, runId, isNew }, 202);
  });
  app.openapi(listRoute, async (c) => {
    const key = c.get('key');
    const whose = key.isAdmin ? { taskQueue: config.temporal.taskQueue } : { prefix: prefixOf(key) };
    const { limit: ended, ...sought } = c.req.valid('query');
    return c.json(await conductor.list({ ended, ...sought, ...whose }), 200);
  });
  app.openapi(readRoute, async (c) => {
    const { id } = c.req.valid('param');
    await requireSolve(gateway, c.get('key'), id);
    return c.json(await conductor.trace(id), 200);
  });
  app.openapi(conversationRoute, async (c) => {
    const { id } = c.req.valid('param');
    await requireSolve(gateway, c.get('key'), id);
    return c.json(putInWords((await readConversation(gateway, id)).asked), 200);
  });
  app.openapi(promptRoute, async (c) => {
    const { id } = c.req.valid('param');
    await requireSolve(gateway, c.get('key'), id);
    const { round, step } = c.req.valid('query');
    const messages = await readSentPrompt(gateway, { id, round, step });
    if (messages !== null) return c.json(messages, 200);
    const message = `step ${step} of round ${round} sent no prompt to a model: it has not started, its output was reused, or its worker is not a model`;
    throw new Refusal(404, message, { reason: 'prompt_not_found' });
  });
  app.openapi(repliesRoute, async (c) => {
    const { id } = c.req.valid('param');
    await requireSolve(gateway, c.get('key'), id);
    return c.json(await readReplies(gateway, { id, round: c.req.valid('query').round }), 200);
  });
  app.openapi(eventsRoute, async (c) => {
    const { id } = c.req.valid('param');
    await requireSolve(gateway, c.get('key'), id);
    const after = c.req.valid('header')['last-event-id'] ?? c.req.valid('query').after;
    if (after !== undefined && readCursor(after).isOver) return c.body(null, 204);
    gateway.streams.open(c.get('key'), c.env.outgoing)(sourceOf(gateway, id));
    const open = (signal: AbortSignal): AsyncGenerator<EventFrame> =>
      framesOf(conductor.stream(id, { signal, ...(after !== undefined && { after }) }));
    const failed = (refusal: Refusal): EventFrame => frameOf(toOpenAiError(refusal), 'error');
    // Browsers reconnect by themselves when a stream ends.
    const stop = { signal: closing.begun, refusal: null };
    const say = logOf(c, gateway, id);
    return streamEvents(c, { open, nothing: () => null, failed, stop, say }, {});
  });
}

/**
 * Finds a solve that the key may use, or a child of one, whose id begins with its parent's. Other ids are refused
 * without a lookup, so a caller cannot learn whether such a solve exists.
 * @throws Refusal
 */
export async function requireSolve(
  { temporal }: Gateway,
  key: Key,
  id: string,
): Promise<{ readonly isRunning: boolean }> {
  const run = mayTouch(key, id) ? await describeRun(temporal, id) : null;
  if (run !== null && SOLVE_WORKFLOWS.includes(run.type)) return { isRunning: run.status.name === 'RUNNING' };
  const message = `there is no solve ${JSON.stringify(id.slice(0, 200))} for this key: GET /api/solves lists those that exist`;
  throw new Refusal(404, message, { reason: 'solve_not_found' });
}

async function* framesOf(events: AsyncIterable<LiveEvent>): AsyncGenerator<EventFrame> {
  for await (const { kind, cursor, ...event } of events) yield frameOf({ kind, ...event }, kind, cursor);
}

type AskedSolve = z.output<typeof askedSchema>;

async function requestOf(
  gateway: Gateway,
  key: Key,
  { question, after, messages, model, answerSchema, ...rest }: AskedSolve,
) {
  const choice = readModel(model, key, gateway.config);
  const asked = await readAskedRequest(gateway, key, { question, after, messages });
  return withModel(choice, {
    ...asked,
    ...rest,
    answerSchema: answerSchema && readSchema(answerSchema, 'answerSchema'),
  });
}

async function readAskedRequest(
  gateway: Gateway,
  key: Key,
  { question, after, messages }: Pick<AskedSolve, 'question' | 'after' | 'messages'>,
): Promise<AskedRequest> {
  if (messages !== undefined && question === undefined && after === undefined) return { messages };
  if (messages !== undefined || question === undefined) {
    const message =
      'send either a question, or messages whose last one is the question; "after" needs a question, without messages';
    throw badRequest(message, 'question');
  }
  if (after === undefined) return { question };
  await requireSolve(gateway, key, after);
  const before = turnsOfConversation(await readConversation(gateway, after), {
    param: 'after',
    value: after,
  });
  return { messages: [...before, { role: 'user', content: question }] };
}
