import { createRoute, z } from '@hono/zod-openapi';
import type { RetryRequest } from '../../client/retry';
import { RefusedError } from '../../client/steer';
import { validatePlan } from '../../plan/validate';
import { limitsInputSchema } from '../../protocol/input';
import { type LimitsChange, MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { planSchema } from '../../protocol/solve';
import { type AuditAction, noteAudit } from '../access/audit';
import { limitBody, MOST_MESSAGE_BYTES } from '../access/admission';
import type { App, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { Refusal } from '../refusal';
import { CONDUCTOR_MODEL, costLimit, readModel } from '../solve/request-of';
import { bodyOf, jsonOf, refusals } from '../routes';
import { bookLater, startRun } from '../solve/start-solve';
import { idSchema, requireSolve, startedSchema } from './solves';

const changeSchema = limitsInputSchema
  .omit({ wallClock: true, approval: true })
  .extend({ wallClockMs: z.int().min(1).max(MAX_WALL_CLOCK_MS).optional() });
const heldSchema = changeSchema
  .required()
  .extend({ remainingMs: z.number(), approvalEndsAt: z.string().nullable() })
  .openapi('HeldLimits');
const nothing = z.strictObject({});
const doneSchema = z.object({ id: z.string() }).openapi('Done');
const retrySchema = z.strictObject({
  from: z.int().min(0),
  worker: z.string().min(1).optional(),
  subtask: z.string().min(1).optional(),
  limits: limitsInputSchema.optional(),
});

interface Steer<Body, Answer> {
  readonly summary: string;
  readonly body: z.ZodType<Body>;
  /** Schema of what `work` returns. Without it, the response is the id. */
  readonly answer?: z.ZodType<Answer>;
  /** False if the server keeps the request until a worker polls; true if a worker must answer it. */
  readonly needsWorker: boolean;
  readonly action?: AuditAction;
  readonly work: (id: string, body: Body, key: Key) => Promise<Answer>;
}

/** Adds the changes that a key may make to its own solves and their children: `POST /api/solves/{id}/<name>`. */
export function addSteering(app: App, gateway: Gateway): void {
  const { conductor } = gateway;
  app.use('/api/solves/:id/*', limitBody(MOST_MESSAGE_BYTES));
  addSteer(app, gateway, 'hint', {
    summary: 'Give the Conductor something to consider, from its next call on',
    body: z.strictObject({ hint: z.string() }),
    needsWorker: false,
    work: (id, { hint }) => conductor.addHint(id, hint),
  });
  addSteer(app, gateway, 'depth', {
    summary: 'Change how deep the Conductor may call itself; null: no limit',
    body: z.strictObject({ depth: changeSchema.shape.depth.unwrap() }),
    needsWorker: false,
    work: (id, { depth }) => conductor.setMaxDepth(id, depth),
  });
  addSteer(app, gateway, 'limits', {
    summary: 'Change the given limits, and return all that now apply',
    body: changeSchema,
    answer: heldSchema,
    needsWorker: true,
    work: async (id, change, key) => {
      await checkRaise(gateway, key, id, change);
      return conductor.setLimits(id, change);
    },
  });
  addSteer(app, gateway, 'approve', {
    summary: 'Approve the waiting plan; if `plan` is given, only if it is still the waiting one',
    body: z.strictObject({ plan: planSchema.optional() }),
    needsWorker: true,
    work: (id, { plan }) => conductor.approvePlan(id, plan),
  });
  addSteer(app, gateway, 'edit', {
    summary: 'Run another plan instead of the waiting one',
    body: z.strictObject({
      plan: planSchema,
      /** Number of the first step, in `sees` and in refusals. */
      firstStep: z.union([z.literal(0), z.literal(1)]).default(0),
    }),
    answer: z.object({ plan: planSchema }),
    needsWorker: true,
    work: async (id, { plan: edited, firstStep }) => {
      const plan = validatePlan(edited, await conductor.planContext(id), { firstStep });
      return { plan: await conductor.editPlan(id, plan) };
    },
  });
  addSteer(app, gateway, 'reject', {
    summary: 'Have the Conductor write another plan instead of the waiting one',
    body: z.strictObject({ reason: z.string() }),
    needsWorker: true,
    work: (id, { reason }) => conductor.rejectPlan(id, reason),
  });
  addSteer(app, gateway, 'cancel', {
    summary: 'Cancel a solve: its calls are stopped, and it ends as cancelled',
    body: nothing,
    needsWorker: false,
    action: 'cancel',
    work: (id) => conductor.cancel(id),
  });
  addLimits(app, gateway);
  addRetry(app, gateway);
}

function addSteer<Body extends object, Answer>(
  app: App,
  gateway: Gateway,
  name: string,
  { summary, body: schema, answer, needsWorker, action = 'steer', work }: Steer<Body, Answer>,
): void {
  const route = createRoute({
    method: 'post',
    path: `/api/solves/{id}/${name}`,
    summary,
    request: { params: idSchema, body: { ...bodyOf(schema), required: !schema.safeParse({}).success } },
    responses: { 200: jsonOf(answer ?? doneSchema, 'Done'), ...refusals },
  });
  app.openapi(route, async (c) => {
    const key = c.get('key');
    const { id } = c.req.valid('param');
    await requireRunning(gateway, key, id);
    if (needsWorker) await gateway.workers.require();
    const done = (await work(id, c.req.valid('json'), key)) ?? { id };
    const detail = action === 'steer' ? { change: name } : undefined;
    await noteAudit(gateway.store, { keyId: key.id, keyName: key.name, action, target: id, detail });
    return c.json(done, 200) as never;
  });
}

const limitsRoute = createRoute({
  method: 'get',
  path: '/api/solves/{id}/limits',
  summary: 'Read the current limits of a running solve, and until when a plan waits',
  request: { params: idSchema },
  responses: { 200: jsonOf(heldSchema, 'The current limits'), ...refusals },
});

function addLimits(app: App, gateway: Gateway): void {
  app.openapi(limitsRoute, async (c) => {
    const { id } = c.req.valid('param');
    await requireRunning(gateway, c.get('key'), id);
    await gateway.workers.require();
    return c.json(await gateway.conductor.limits(id), 200);
  });
}

/** @throws RefusedError if the solve has ended */
async function requireRunning(gateway: Gateway, key: Key, id: string): Promise<void> {
  const { isRunning } = await requireSolve(gateway, key, id);
  if (!isRunning) throw new RefusedError(`solve ${id} has ended already: it can no longer be changed`);
}

/** Checks a new cost limit: keys with a budget keep to the reservation, non-admin keys to the operator's limit. */
async function checkRaise(gateway: Gateway, key: Key, id: string, { costUsd }: LimitsChange): Promise<void> {
  const hasBudget = key.usdPerDay !== null;
  if (costUsd === undefined || (key.isAdmin && !hasBudget)) return;
  const held = hasBudget ? (await gateway.conductor.limits(id)).costUsd : gateway.config.limits.costUsd;
  if (held === null || (costUsd !== null && costUsd <= held)) return;
  const why = hasBudget
    ? "no more than that was reserved from its key's budget"
    : 'the operator allows no more';
  const message = `solve ${id} may cost at most ${held} USD, since ${why}: start another one, or ask the operator`;
  throw new Refusal(403, message, { reason: 'cost_limit_held', param: 'costUsd' });
}

const retryRoute = createRoute({
  method: 'post',
  path: '/api/solves/{id}/retry',
  summary: 'Start a new solve that continues from a step of this one, counted from 0',
  request: { params: idSchema, body: bodyOf(retrySchema) },
  responses: { 202: jsonOf(startedSchema, 'The new solve has started'), ...refusals },
});

function addRetry(app: App, gateway: Gateway): void {
  app.openapi(retryRoute, async (c) => {
    const key = c.get('key');
    const { id: retryOf } = c.req.valid('param');
    await requireSolve(gateway, key, retryOf);
    const { limits, ...request } = c.req.valid('json');
    // A key that allows single workers only must not choose another one.
    if (request.worker !== undefined) readModel(CONDUCTOR_MODEL, key, gateway.config);
    const wanted = {
      model: CONDUCTOR_MODEL,
      limits: { ...limits, ...costLimit(gateway.config, limits?.costUsd) },
      detail: { retryOf },
      start: (id: string, held: RetryRequest['limits'], options: object) =>
        gateway.conductor.retry(retryOf, { ...request, limits: held }, id, options),
    };
    const started = await startRun(c, gateway, wanted);
    if (started.isNew) bookLater(key, started);
    const { id, runId, isNew } = started;
    return c.json({ id, runId, isNew }, 202);
  });
}
