import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Context, MiddlewareHandler, Next } from 'hono';
import type { Env } from './gateway';

/** Folder of the built page: `lib/web`, whether this file runs from `src` or from `lib`. */
export const PAGE_FOLDER = join(__dirname, '..', '..', 'lib', 'web');

/** Content security policy: only the gateway's own files load, text from a model cannot run, no page may frame it. */
const POLICY = [
  "default-src 'none'",
  ...['script', 'style', 'img', 'connect'].map((kind) => `${kind}-src 'self'`),
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

type Serve = (c: Context<Env>, next: Next) => ReturnType<MiddlewareHandler>;

/**
 * Returns a handler that gives a file of the page, its index for other paths in a browser, or null; always null if the
 * page was not built. The build leaves a gzipped copy beside each file.
 */
export function openPage(folder: string): (c: Context<Env>) => Promise<Response | null> {
  if (!existsSync(folder)) return () => Promise.resolve(null);
  const found = { root: folder, precompressed: true };
  const file: Serve = serveStatic(found);
  const index: Serve = serveStatic({ ...found, path: 'index.html' });
  const nothing = (): Promise<void> => Promise.resolve();
  return async (c) => {
    const { path } = c.req;
    const isDocument = !isForPrograms(path) && c.req.header('accept')?.includes('text/html') === true;
    // The folder itself counts as a document: only browsers are given it.
    const asked = path === '/' ? undefined : await file(c, nothing);
    const answer = asked ?? (isDocument ? await index(c, nothing) : undefined);
    if (!answer) return null;
    // Names of assets contain a digest of their content.
    const isAsset = path.startsWith('/assets/');
    answer.headers.set('cache-control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
    answer.headers.set('content-security-policy', POLICY);
    return answer;
  };
}

function isForPrograms(path: string): boolean {
  return /^\/(v1|mcp|api|assets|session|health|metrics|openapi\.json)(\/|$)/.test(path);
}
