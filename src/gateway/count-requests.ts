import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Env, Gateway } from './gateway';

/** Counts responses, and event streams while they are open. */
export function countRequests({ metrics }: Gateway): MiddlewareHandler<Env> {
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
