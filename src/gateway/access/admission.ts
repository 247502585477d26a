import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Env, Gateway } from '../gateway';
import type { Key } from './keys';
import { SESSION_SECONDS } from './passes';
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

/** Accepted credentials: a key in a header (`Authorization: Bearer` or `x-api-key`), or also a session cookie. */
type Proof = 'key' | 'key or session';

/** Requires a valid key and enforces its request rate. */
export function requireKey(gateway: Gateway, proof: Proof): MiddlewareHandler<Env> {
  const { rates } = gateway;
  return async (c, next) => {
    const key = await keyOfRequest(gateway, c, proof);
    if (key === null) {
      const remedy =
        'send a valid key as "Authorization: Bearer" or x-api-key ("temporal-conductor key create" makes one)';
      throw new Refusal(401, `the key is missing or invalid: ${remedy}`, { reason: 'invalid_api_key' });
    }
    const waits = rates.take(key);
    if (waits !== null) {
      const message = `key ${key.name} may send only ${key.requestsPerMinute} requests a minute: try again in ${Math.ceil(waits)} s`;
      throw new Refusal(429, message, { reason: 'rate_limit_exceeded', retryAfterSeconds: waits });
    }
    c.set('key', key);
    await next();
  };
}

/**
 * Returns the key of a valid credential among those that a request carries; null if none is valid. Some clients send the
 * token of a login of their own beside the key, and some proxies theirs beside a session.
 */
async function keyOfRequest({ keys, sessions }: Gateway, c: Context<Env>, proof: Proof): Promise<Key | null> {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1];
  const session = proof === 'key or session' ? sessionOf(c) : null;
  const found = await Promise.all([
    keys.check(bearer ?? ''),
    keys.check(c.req.header('x-api-key') ?? ''),
    session === null ? null : sessions.check(session),
  ]);
  return found.find((key) => key !== null) ?? null;
}

/** @throws Refusal unless the key is an admin key */
export function requireAdmin({ isAdmin, name }: Key): void {
  if (isAdmin) return;
  const message = `this needs an admin key, and key ${JSON.stringify(name)} is not one: ask the operator for one`;
  throw new Refusal(403, message, { reason: 'admin_key_required' });
}

/** Returns a cookie name that includes the port, since browsers send a cookie to every port of a host. */
function cookieName({ req }: Context<Env>): string {
  const port = /:(\d+)$/.exec(req.header('host') ?? '')?.[1];
  return port === undefined ? 'conductor-session' : `conductor-session-${port}`;
}

/** Returns a request's session secret, or null if there is none or another page may have sent the request. */
export function sessionOf(c: Context<Env>): string | null {
  return isOfThisPage(c) ? (getCookie(c, cookieName(c)) ?? null) : null;
}

/** Sets the session cookie of a browser; an empty secret deletes it. */
export function keepSession(c: Context<Env>, secret: string): void {
  setCookie(c, cookieName(c), secret, {
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    maxAge: secret === '' ? 0 : SESSION_SECONDS,
    secure: c.req.header('origin')?.startsWith('https:') === true,
  });
}

const SAFE: readonly string[] = ['GET', 'HEAD'];

/**
 * Whether a page of this origin sent a request. Other ports of this machine are the same site, so SameSite alone
 * would let their pages act.
 */
export function isOfThisPage({ req }: Context<Env>): boolean {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map((name) => req.header(name));
  const isSafe = SAFE.includes(req.method);
  if (site !== undefined && site !== 'same-origin' && !(isSafe && site === 'none')) return false;
  if (origin !== undefined) return origin.replace(/^https?:\/\//, '') === host?.toLowerCase();
  return isSafe || site === 'same-origin';
}
