import type { Context, MiddlewareHandler } from 'hono';
import type { Env, Gateway } from '../gateway';
import type { Key } from './keys';
import { Refusal } from '../refusal';
import { sessionOf } from './browser';

/** Accepted credentials: a key in a header (`Authorization: Bearer` or `x-api-key`), or a session cookie. */
type Proof = 'key' | 'key or session';

/** Requires a valid key and enforces its request rate. */
export function requireKey(gateway: Gateway, proof: Proof): MiddlewareHandler<Env> {
  const { rates } = gateway;
  return async (c, next) => {
    const key = await keyOf(gateway, c, proof);
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

async function keyOf({ keys, sessions }: Gateway, c: Context<Env>, proof: Proof): Promise<Key | null> {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1];
  const secret = bearer ?? c.req.header('x-api-key');
  if (secret !== undefined || proof === 'key') return keys.check(secret ?? '');
  return sessions.check(sessionOf(c) ?? '');
}

/** @throws Refusal unless the key is an admin key */
export function requireAdmin({ isAdmin, name }: Key): void {
  if (isAdmin) return;
  const message = `this needs an admin key, and key ${JSON.stringify(name)} is not one: ask the operator for one`;
  throw new Refusal(403, message, { reason: 'admin_key_required' });
}
