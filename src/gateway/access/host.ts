import type { MiddlewareHandler } from 'hono';
import type { Env } from '../gateway';
import { Refusal } from '../refusal';

/**
 * Refuses requests for another host name. A malicious page can have its own name resolve to this machine (DNS
 * rebinding); the browser then sends that name.
 * @param hosts this gateway's names, without ports; null: any
 */
export function checkHost(hosts: readonly string[] | null): MiddlewareHandler<Env> {
  return async (c, next) => {
    const named = (c.req.header('host') ?? '').toLowerCase().replace(/:\d+$/, '');
    if (hosts !== null && !hosts.includes(named)) {
      const message = `this gateway does not accept the host name ${JSON.stringify(named.slice(0, 100))}: allow it with --allow-host`;
      throw new Refusal(421, message, { reason: 'unknown_host' });
    }
    await next();
  };
}

/** Host names of a gateway that only this machine can reach. */
export const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];
