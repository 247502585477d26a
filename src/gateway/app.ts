import { OpenAPIHono } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import { codeOf, reasonOf } from '../errors';
import { requireKey } from './admission';
import { BudgetSpentError } from './day-budget';
import type { App, Env, Gateway } from './gateway';
import { checkHost } from './host';
import { badRequest, Refusal, toAnthropicError, toOpenAiError } from './refusal';
import { addChat } from './surfaces/chat';
import { addMessages } from './surfaces/messages';
import { addModels } from './surfaces/models';
import { addResponses } from './surfaces/responses';
import { BadRetryError } from '../client/retry';
import { isNotFound, RefusedError } from '../client/steer';
import { BadCursorError } from '../client/live-events';
import { ConfigError } from '../config/errors';
import { PlanError } from '../plan/plan-error';
import { PolicyError } from '../training/policy/errors';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { addCost } from './api/cost';
import { addEvaluations } from './api/evaluations';
import { addHealth } from './api/health';
import { addSolves } from './api/solves';
import { addSteering } from './api/steer';
import { addTraining } from './api/training';
import { countRequests } from './count-requests';
import { addDocument } from './openapi';

/** Beyond a question of 1 MiB in JSON's longest spelling. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The gateway's routes, before anything listens. @param host the name that it is reached by; null: any */
export function buildApp(gateway: Gateway, hosts: readonly string[] | null): App {
  const app: App = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (result.success) return;
      const [issue] = result.error.issues;
      const param = issue?.path.join('.') ?? '';
      throw badRequest(`${param === '' ? 'the request' : param}: ${issue?.message ?? 'is not valid'}`, param);
    },
  });
  app.onError((error, c) => {
    const refusal = asRefusal(error, gateway);
    const toBody = c.req.path.startsWith('/v1/messages') ? toAnthropicError : toOpenAiError;
    return c.json(toBody(refusal), refusal.status, refusal.headers);
  });
  app.notFound((c) => {
    const message = `there is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}: see /openapi.json for what there is`;
    throw new Refusal(404, message, { reason: 'unknown_url' });
  });
  app.use(secureHeaders(), checkHost(hosts), bodyLimit({ maxSize: MOST_BYTES, onError: refuseSize }));
  app.use(countRequests(gateway));
  for (const keyed of ['/v1/*', '/api/*', '/metrics']) app.use(keyed, requireKey(gateway));
  addChat(app, gateway);
  addMessages(app, gateway);
  addModels(app, gateway);
  addResponses(app, gateway);
  addSolves(app, gateway);
  addSteering(app, gateway);
  addCost(app, gateway);
  addTraining(app, gateway);
  addEvaluations(app, gateway);
  addHealth(app, gateway);
  addDocument(app);
  return app;
}

function refuseSize(): never {
  throw new Refusal(413, `the request has over ${MOST_BYTES} bytes: shorten it`, { reason: 'too_large' });
}

/** Errors of the product's own that are the caller's to put right. */
const CALLERS: readonly (readonly [abstract new (...args: never[]) => Error, ContentfulStatusCode])[] = [
  [BudgetSpentError, 402],
  [PolicyError, 404],
  [RefusedError, 409],
  ...[BadCursorError, BadRetryError, ConfigError, PlanError].map((kind) => [kind, 400] as const),
];

function asRefusal(error: Error, { say }: Gateway): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof HTTPException && error.status < 500) {
    return new Refusal(400, `the request cannot be read: ${error.message}`, { reason: 'bad_request' });
  }
  const status = CALLERS.find(([kind]) => error instanceof kind)?.[1];
  if (status !== undefined) return new Refusal(status, error.message, { reason: String(codeOf(error)) });
  if (isNotFound(error)) {
    return new Refusal(404, 'it is no longer there, or has ended: ask for it again', { reason: 'not_found' });
  }
  say(`gateway: ${reasonOf(error)}`);
  const message = 'the gateway failed; what went wrong is written where it runs';
  return new Refusal(500, message, { reason: 'internal', retryAfterSeconds: 1 }, { cause: error });
}
