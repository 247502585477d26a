import { OpenAPIHono } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import { reasonOf } from '../errors';
import { requireKey } from './admission';
import { BudgetSpentError } from './day-budget';
import type { Env, Gateway } from './gateway';
import { checkHost } from './host';
import { badRequest, Refusal, toAnthropicError, toOpenAiError } from './refusal';
import { addChat } from './surfaces/chat';
import { addMessages } from './surfaces/messages';
import { addModels } from './surfaces/models';
import { addResponses } from './surfaces/responses';

export type App = OpenAPIHono<Env>;

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
  app.use('/v1/*', requireKey(gateway));
  addChat(app, gateway);
  addMessages(app, gateway);
  addModels(app, gateway);
  addResponses(app, gateway);
  return app;
}

function refuseSize(): never {
  throw new Refusal(413, `the request has over ${MOST_BYTES} bytes: shorten it`, { reason: 'too_large' });
}

function asRefusal(error: Error, { say }: Gateway): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof HTTPException && error.status < 500) {
    return new Refusal(400, `the request cannot be read: ${error.message}`, { reason: 'bad_request' });
  }
  if (error instanceof BudgetSpentError)
    return new Refusal(402, error.message, { reason: 'insufficient_quota' });
  say(`gateway: ${reasonOf(error)}`);
  const message = 'the gateway failed; what went wrong is written where it runs';
  return new Refusal(500, message, { reason: 'internal', retryAfterSeconds: 1 }, { cause: error });
}
