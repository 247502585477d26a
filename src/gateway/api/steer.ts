import { createRoute, z } from '@hono/zod-openapi';
import { RefusedError } from '../../client';
import { validatePlan } from '../../plan/validate';
import { limitSchema, limitsInputSchema } from '../../protocol/input';
import { LIMIT_RULES, MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { CONDUCTOR_MODEL } from '../../protocol/rights';
import { planSchema } from '../../protocol/solve';
import { type AuditAction, noteAudit } from '../access/audit';
import type { App, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { isOperators, senderOf } from '../access/rights';
import { bodyOf, jsonOf, refusals } from '../routes';
import { bookLater, startRun } from '../solve/start-solve';
import { idSchema, requireSolve, startedSchema } from './solves';

const changeSchema = limitsInputSchema
  .omit({ wallClock: true, approval: true })
  .extend({ wallClockMs: limitSchema(z.int, LIMIT_RULES.wallClockMs, 1, MAX_WALL_CLOCK_MS).optional() });
const heldSchema = changeSchema
  .required()
  .extend({ remainingMs: z.number(), approvalEndsAt: z.string().nullable() })
  .openapi('HeldLimits');
const rulesSchema = z
  .object({ workers: z.array(z.string()).readonly(), maxSteps: z.int() })
  .openapi('PlanRules');
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
  addSteer(app, gateway, 'hint', {
    summary: 'Give the Conductor something to consider, from its next call on',
    body: z.strictObject({ hint: z.string() }),
    needsWorker: false,
    work: (id, { hint }, key) => conductor.addHint(id, hint, senderOf(key)),
  });
  addSteer(app, gateway, 'depth', {
    summary: 'Change how deep the Conductor may call itself; null: no limit',
    body: z.strictObject({ depth: changeSchema.shape.depth.unwrap() }),
    needsWorker: true,
    work: async (id, change, key) => {
      // Not the signal, which could not say that the key may not set this.
      await conductor.setLimits(id, change, senderOf(key));
    },
  });
  addSteer(app, gateway, 'limits', {
    summary: 'Change the given limits, and return all that now apply',
    body: changeSchema,
    answer: heldSchema,
    needsWorker: true,
    work: (id, change, key) => conductor.setLimits(id, change, senderOf(key)),
  });
  addSteer(app, gateway, 'approve', {
    summary: 'Approve the waiting plan; if `plan` is given, only if it is still the waiting one',
    body: z.strictObject({ plan: planSchema.optional() }),
    needsWorker: true,
    work: (id, { plan }, key) => conductor.approvePlan(id, plan, senderOf(key)),
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
    work: async (id, { plan: edited, firstStep }, key) => {
      const plan = validatePlan(edited, await conductor.planContext(id), { firstStep });
      return { plan: await conductor.editPlan(id, plan, senderOf(key)) };
    },
  });
  addSteer(app, gateway, 'reject', {
    summary: 'Have the Conductor write another plan instead of the waiting one',
    body: z.strictObject({ reason: z.string() }),
    needsWorker: true,
    work: (id, { reason }, key) => conductor.rejectPlan(id, reason, senderOf(key)),
  });
  addSteer(app, gateway, 'decide-call', {
    summary: 'Decide on a call of a tool that waits: approve it, perhaps with other arguments, or reject it',
    body: z.strictObject({
      /** `approval.id` of the call. */
      call: z.string(),
      approve: z.boolean(),
      /** Why it is rejected: its model is told. */
      reason: z.string().exactOptional(),
      arguments: z.record(z.string(), z.unknown()).exactOptional(),
    }),
    needsWorker: true,
    work: (id, decision, key) => conductor.decideCall(id, decision, senderOf(key)),
  });
  addSteer(app, gateway, 'cancel', {
    summary: 'Cancel a solve: its calls are stopped, and it ends as cancelled',
    body: nothing,
    needsWorker: false,
    action: 'cancel',
    work: (id) => conductor.cancel(id),
  });
  addReading(app, gateway, 'limits', {
    summary: 'Read the current limits of a running solve, and until when a plan waits',
    answer: heldSchema,
    what: 'The current limits',
    read: (id) => conductor.limits(id),
  });
  addReading(app, gateway, 'plan-rules', {
    summary: 'Read which workers a plan of a running solve may use, and how many steps it may have',
    answer: rulesSchema,
    what: 'The rules for a plan now',
    read: async (id) => {
      const { workers, maxSteps } = await conductor.planContext(id);
      return { workers, maxSteps };
    },
  });
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

interface Reading<Answer> {
  readonly summary: string;
  readonly answer: z.ZodType<Answer>;
  readonly what: string;
  readonly read: (id: string) => Promise<Answer>;
}

/** Adds what only a running solve can tell, which takes a worker: `GET /api/solves/{id}/<name>`. */
function addReading<Answer>(
  app: App,
  gateway: Gateway,
  name: string,
  { summary, answer, what, read }: Reading<Answer>,
): void {
  const route = createRoute({
    method: 'get',
    path: `/api/solves/{id}/${name}`,
    summary,
    request: { params: idSchema },
    responses: { 200: jsonOf(answer, what), ...refusals },
  });
  app.openapi(route, async (c) => {
    const { id } = c.req.valid('param');
    await requireRunning(gateway, c.get('key'), id);
    await gateway.workers.require();
    return c.json(await read(id), 200) as never;
  });
}

/** @throws RefusedError if the solve has ended */
async function requireRunning(gateway: Gateway, key: Key, id: string): Promise<void> {
  const { isRunning } = await requireSolve(gateway, key, id);
  if (!isRunning) throw new RefusedError(`solve ${id} has ended already: it can no longer be changed`);
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
    const started = await startRun(c, gateway, {
      model: CONDUCTOR_MODEL,
      limits,
      detail: { retryOf },
      start: (id, held, options) =>
        gateway.conductor.retry(retryOf, { ...request, ...held, asOperator: isOperators(key) }, id, options),
    });
    if (started.isNew) bookLater(key, started);
    const { id, runId, isNew } = started;
    return c.json({ id, runId, isNew }, 202);
  });
}
