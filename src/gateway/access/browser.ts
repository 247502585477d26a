import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Env } from '../gateway';
import { SESSION_SECONDS } from './passes';

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
