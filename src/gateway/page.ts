import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { Context } from 'hono';
import type { Env } from './gateway';

/** Folder of the built page: `lib/web`, whether this file runs from `src` or from `lib`. */
export const PAGE = join(__dirname, '..', '..', 'lib', 'web');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

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

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer<ArrayBuffer>;
  readonly gzipped: Buffer<ArrayBuffer> | null;
}

/** Returns a handler that gives a file of the page, its index for other paths in a browser, or null. */
export function openPage(folder: string): (c: Context<Env>) => Response | null {
  const files = readPage(folder);
  const index = files.get('/index.html');
  return (c) => {
    const { method, path } = c.req;
    if (index === undefined || method !== 'GET') return null;
    const file = files.get(path);
    // Names of assets contain a digest of their content.
    const caching = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    if (file !== undefined) return answerFile(c, file, caching);
    const isDocument = !isForPrograms(path) && c.req.header('accept')?.includes('text/html') === true;
    return isDocument ? answerFile(c, index, 'no-cache') : null;
  };
}

function isForPrograms(path: string): boolean {
  return /^\/(v1|api|assets|session|health|metrics|openapi\.json)(\/|$)/.test(path);
}

function answerFile(c: Context<Env>, { type, bytes, gzipped }: PageFile, caching: string): Response {
  const isGzipped = gzipped !== null && c.req.header('accept-encoding')?.includes('gzip') === true;
  return c.body(isGzipped ? gzipped : bytes, 200, {
    'content-type': type,
    'cache-control': caching,
    'content-security-policy': POLICY,
    vary: 'accept-encoding',
    ...(isGzipped && { 'content-encoding': 'gzip' }),
  });
}

/** Reads the page's files by path; none if it was not built. The build leaves a gzipped copy beside each. */
function readPage(folder: string): Map<string, PageFile> {
  const files = new Map<string, PageFile>();
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const read = (path: string): Buffer<ArrayBuffer> => readFileSync(join(folder, path));
    const gzipped = names.includes(`${name}.gz`) ? read(`${name}.gz`) : null;
    files.set(`/${name.replaceAll(sep, '/')}`, { type, bytes: read(name), gzipped });
  }
  return files;
}
