import { createRoute, z } from '@hono/zod-openapi';
import { isSmallModel } from '../../config/default-pool';
import { isOfThisPage, keepSession, sessionOf } from '../access/admission';
import { readSpending, spendingInUsd } from '../access/day-budget';
import type { App, Gateway } from '../gateway';
import { Refusal } from '../refusal';
import { bodyOf, jsonOf, refusals, UNKEYED } from '../routes';
import { modelNames } from '../solve/request-of';

const signInSchema = z
  .strictObject({ link: z.string().max(200).optional(), key: z.string().max(200).optional() })
  .openapi('SignIn');
const doneSchema = z.strictObject({}).openapi('SignedIn');

const meSchema = z
  .object({
    keyId: z.string(),
    name: z.string(),
    isAdmin: z.boolean(),
    usdPerDay: z.number().nullable(),
    /** null without a budget: nothing is counted then. */
    spending: z
      .object({
        spentTodayUsd: z.number(),
        /** Whether a part of the cost is unknown, so that it is at least this. */
        spentTodayIsLowerBound: z.boolean(),
        /** Counts towards the budget for calls of unknown cost. */
        unknownTodayUsd: z.number(),
        heldTodayUsd: z.number(),
      })
      .nullable(),
    /** Workflows page of Temporal's web UI, for admins only; append `/<id>/<run id>` for one workflow. */
    workflowsPage: z.string().nullable(),
    models: z.array(z.string()),
    workers: z.array(z.object({ id: z.string(), model: z.string() })),
    /** Whether the built-in small model is the whole team, so that answers are weak. */
    isTrial: z.boolean(),
    limits: z.object({
      steps: z.int(),
      depth: z.int().nullable(),
      costUsd: z.number().nullable(),
      calls: z.int(),
    }),
  })
  .openapi('Me');

const signInRoute = createRoute({
  method: 'post',
  path: '/session',
  summary: 'Sign in a browser with a printed link, which works once, or with a key',
  security: UNKEYED,
  request: { body: bodyOf(signInSchema) },
  responses: { 200: jsonOf(doneSchema, 'Signed in: from now on a cookie stands for the key'), ...refusals },
});

const signOutRoute = createRoute({
  method: 'delete',
  path: '/session',
  summary: 'Sign out a browser',
  security: UNKEYED,
  responses: { 200: jsonOf(doneSchema, 'The session has ended'), ...refusals },
});

const meRoute = createRoute({
  method: 'get',
  path: '/api/me',
  summary:
    'Read the name and rights of the key, what it spent today, its models, the workers, and the default limits of a solve',
  responses: { 200: jsonOf(meSchema, 'The key, without its secret'), ...refusals },
});

export function addSession(app: App, gateway: Gateway): void {
  const { sessions } = gateway;
  app.openapi(signInRoute, async (c) => {
    if (!isOfThisPage(c)) throw foreign();
    const secret = await sessions.open(c.req.valid('json'));
    if (secret === null) {
      const message =
        'the link or key is invalid: a link works once, within a day, a key until it is revoked or expires; restart the gateway for a new link, or use a key';
      throw new Refusal(401, message, { reason: 'invalid_api_key' });
    }
    keepSession(c, secret);
    return c.json({}, 200);
  });
  app.openapi(signOutRoute, async (c) => {
    if (!isOfThisPage(c)) throw foreign();
    await sessions.close(sessionOf(c) ?? '');
    keepSession(c, '');
    return c.json({}, 200);
  });
  app.openapi(meRoute, async (c) => {
    const { id: keyId, name, isAdmin, usdPerDay } = c.get('key');
    const today = usdPerDay === null ? null : await readSpending(gateway.store, keyId, Date.now());
    const { workers, limits } = gateway.config;
    const { steps, depth, costUsd, calls } = limits;
    const workflowsPage = isAdmin ? (gateway.workflowsPage ?? null) : null;
    const models = modelNames(gateway.config, c.get('key'));
    const spending = today && spendingInUsd(today);
    const me = { keyId, name, isAdmin, usdPerDay, spending, workflowsPage, models };
    const team = workers.map((each) => ({
      id: each.id,
      model: 'model' in each ? each.model : each.provider,
    }));
    const isTrial = workers.every(isSmallModel);
    return c.json({ ...me, workers: team, isTrial, limits: { steps, depth, costUsd, calls } }, 200);
  });
}

function foreign(): Refusal {
  const message = "the request did not come from this gateway's own page: sign in and out only there";
  return new Refusal(403, message, { reason: 'foreign_origin' });
}
