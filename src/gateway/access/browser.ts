import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Env } from '../gateway';
import { SESSION_SECONDS } from './passes';

/** Browsers send a cookie to every port of a host: each gateway has a name of its own for it. */
function cookieName({ req }: Context<Env>): string {
  const port = /:(\d+)$/.exec(req.header('host') ?? '')?.[1];
  return port === undefined ? 'conductor-session' : `conductor-session-${port}`;
}

/** The secret of the session that a request belongs to; null for one that another page may have sent. */
export function sessionOf(c: Context<Env>): string | null {
  return isOfThisPage(c) ? (getCookie(c, cookieName(c)) ?? null) : null;
}

/** Gives a browser a session; an empty secret takes it back. */
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
 * Whether a page of this very origin sent a request. Another port of this machine is the same site, so that SameSite alone
 * would let its pages act.
 */
export function isOfThisPage({ req }: Context<Env>): boolean {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map((name) => req.header(name));
  const isSafe = SAFE.includes(req.method);
  if (site !== undefined && site !== 'same-origin' && !(isSafe && site === 'none')) return false;
  if (origin !== undefined) return origin.replace(/^https?:\/\//, '') === host?.toLowerCase();
  return isSafe || site === 'same-origin';
}
