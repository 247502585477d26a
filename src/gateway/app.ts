import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { secureHeaders } from 'hono/secure-headers';
import { explainSent } from '../config/errors';
import { readVersion } from '../runtime/version';
import { checkHost, requireKey } from './access/admission';
import { unlessAborted } from '../runtime/turns';
import { stopping } from './closing';
import type { App, Env, Gateway } from './gateway';
import { asRefusal, badRequest, Refusal, toAnthropicError, toOpenAiError } from './refusal';
import { addChat } from './surfaces/chat';
import { addMcp } from './surfaces/mcp';
import { addMessages } from './surfaces/messages';
import { addModels } from './surfaces/models';
import { addResponses } from './surfaces/responses';
import { addCost } from './api/cost';
import { addEvaluations } from './api/evaluations';
import { addHealth, answerProbes } from './api/health';
import { addSession } from './api/session';
import { addSolves } from './api/solves';
import { addSteering } from './api/steer';
import { addTraining } from './api/training';
import { logOf } from './log-of';
import { limitBody, MOST_MESSAGE_BYTES } from './limit-body';
import { takeOptions } from './options-header';
import { openPage, PAGE_FOLDER } from './page';

/** Paths that need a key. A browser session opens only those that the page uses. */
const KEYED = [
  ['/v1/*', 'key'],
  ['/mcp', 'key'],
  ['/metrics', 'key'],
  ['/api/*', 'key or session'],
] as const;

/** Adds the gateway's routes to a new app; does not listen. @param hosts names that it is reached by; null: any */
export function buildApp(gateway: Gateway, hosts: readonly string[] | null): App {
  const app: App = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (result.success) return;
      const param = result.error.issues[0]?.path.join('.') ?? '';
      // The hook is given what was sent, though its type does not say so.
      throw badRequest(explainSent(result.error, 'data' in result ? result.data : undefined), param);
    },
  });
  app.onError((error, c) => {
    const refusal = asRefusal(error, logOf(c, gateway));
    c.set('refused', refusal);
    const toBody = c.req.path.startsWith('/v1/messages') ? toAnthropicError : toOpenAiError;
    return c.json(toBody(refusal), refusal.status, refusal.headers);
  });
  const answerPage = openPage(PAGE_FOLDER);
  app.notFound(async (c) => {
    const page = await answerPage(c);
    if (page !== null) return page;
    const message = `there is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}: see /openapi.json for all routes`;
    throw new Refusal(404, message, { reason: 'unknown_url' });
  });
  app.use(secureHeaders(), checkHost(hosts), countRequests(gateway), stopInTime(gateway));
  answerProbes(app);
  for (const [keyed, proof] of KEYED) app.use(keyed, requireKey(gateway, proof));
  app.use(limitBody(mostBytesOf));
  app.use('/v1/*', takeOptions());
  addSession(app, gateway);
  addChat(app, gateway);
  addMessages(app, gateway);
  addModels(app, gateway);
  addMcp(app, gateway);
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

/** Body limit: a question of 1 MiB fits, even with each character escaped in JSON. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Body limit of a request without a key: to sign in. */
const MOST_UNKEYED_BYTES = 4096;

/** Returns the body limit of a path. What changes a solve becomes one message. */
function mostBytesOf(path: string): number {
  if (/^\/api\/solves\/[^/]+\//.test(path)) return MOST_MESSAGE_BYTES;
  return /^\/(?:mcp$|(?:api|v1)\/)/.test(path) ? MOST_BYTES : MOST_UNKEYED_BYTES;
}

/** Counts responses, and event streams while they are open. */
function countRequests({ metrics }: Gateway): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    metrics.countRequest(c.req.method, routePath(c, -1), c.res.status);
    if (c.res.headers.get('content-type')?.startsWith('text/event-stream') !== true) return;
    metrics.streamsOpen += 1;
    c.env.outgoing.once('close', () => {
      metrics.streamsOpen -= 1;
    });
  };
}

/** Refuses requests that come while the gateway stops, and ends those that take too long. */
function stopInTime({ closing }: Gateway): MiddlewareHandler<Env> {
  return async (c, next) => {
    try {
      if (closing.begun.aborted) throw stopping();
      await unlessAborted(closing.over, next()).catch((error: unknown) => {
        throw error === closing.over.reason ? stopping(c.get('solve')) : error;
      });
    } finally {
      // Its client must connect to another gateway next.
      if (closing.begun.aborted && !c.env.outgoing.headersSent)
        c.env.outgoing.setHeader('connection', 'close');
    }
  };
}

/** Returns the OpenAPI document of an app's routes; `docs/openapi.json` is a copy of it. */
export function documentOf(app: App): ReturnType<App['getOpenAPI31Document']> {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'temporal-conductor gateway',
      version: readVersion(),
      description:
        '`/v1` serves clients of OpenAI and Anthropic; `/api` offers what the command line can steer.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
  });
}

/** Serves the document without a key: all of it is public. */
function addDocument(app: App): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'A key from `temporal-conductor key create`; the header `x-api-key` takes it, too',
  });
  let document: ReturnType<typeof documentOf> | null = null;
  app.get('/openapi.json', (c) => c.json((document ??= documentOf(app))));
}
