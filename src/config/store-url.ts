import { existsSync } from 'node:fs';

export type StorePlace =
  | { readonly kind: 'file'; readonly path: string }
  /** `full`: each write waits until the disk has it. */
  | { readonly kind: 'sqlite'; readonly path: string; readonly full: boolean }
  /** `prefix` is empty, or ends with `/`. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  /** `url` may be shown; `connection` is what `pg` takes, and may hold a password. */
  | {
      readonly kind: 'postgres';
      readonly url: string;
      readonly connection: string;
      readonly schema: string;
    };

/** Bucket names as AWS rules them: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export const STORE_URL_FORMS =
  'sqlite:PATH, postgres://USER@HOST/DATABASE, s3://BUCKET/PREFIX or file:PATH, e.g. sqlite:.conductor/store.db';

/** Where a folder keeps everything that no configuration gives another place. */
export const DEFAULT_STORE = 'sqlite:.conductor/store.db';
/** The same, up to version 0.3. */
export const EARLIER_STORE = 'file:.conductor/store';

/** The store of this folder: the one of an earlier version while nothing has taken it over, since runs refer into it. */
export function defaultStore(): string {
  const isTakenOver = existsSync('.conductor/store.db') || !existsSync('.conductor/store');
  return isTakenOver ? DEFAULT_STORE : EARLIER_STORE;
}

/**
 * Reads `sqlite:PATH[?sync=full]`, `file:PATH`, `s3://BUCKET[/PREFIX]` or
 * `postgres://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?schema=NAME&sslmode=MODE…]`; null for anything else.
 */
export function readStoreUrl(url: string): StorePlace | null {
  return readFileUrl(url) ?? readSqliteUrl(url) ?? readS3Url(url) ?? readPostgresUrl(url);
}

function readFileUrl(url: string): StorePlace | null {
  const path = /^file:(.+)$/s.exec(url)?.[1];
  return path === undefined ? null : { kind: 'file', path };
}

function readSqliteUrl(url: string): StorePlace | null {
  const [, path, sync] = /^sqlite:([^?]+)(?:\?sync=(full|normal))?$/s.exec(url) ?? [];
  return path === undefined ? null : { kind: 'sqlite', path, full: sync === 'full' };
}

function readS3Url(url: string): StorePlace | null {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/s.exec(url) ?? [];
  if (!BUCKET.test(bucket)) return null;
  if (prefix === '') return { kind: 's3', bucket, prefix };
  return isKey(prefix) ? { kind: 's3', bucket, prefix: `${prefix}/` } : null;
}

/** As PostgreSQL's own programs take them; a mode that may fall back to no encryption is not among them. */
const POSTGRES_OPTIONS: Readonly<Record<string, RegExp>> = {
  schema: /^[a-z_][a-z0-9_]{0,62}$/,
  host: /^\/./,
  sslmode: /^(?:disable|require|verify-ca|verify-full)$/,
  sslrootcert: /./,
  sslcert: /./,
  sslkey: /./,
};

function readPostgresUrl(url: string): StorePlace | null {
  if (!/^postgres(?:ql)?:\/\//.test(url) || !URL.canParse(url)) return null;
  const parsed = new URL(url);
  const options = [...parsed.searchParams];
  if (!/^\/[^/]+$/.test(parsed.pathname) || parsed.hash !== '') return null;
  if (!options.every(([name, value]) => POSTGRES_OPTIONS[name]?.test(value))) return null;
  const schema = parsed.searchParams.get('schema') ?? 'conductor';
  parsed.searchParams.delete('schema');
  // Modes then mean what they mean to PostgreSQL's own programs.
  if (parsed.searchParams.has('sslmode')) parsed.searchParams.set('uselibpqcompat', 'true');
  return { kind: 'postgres', url: withoutPassword(url), connection: parsed.href, schema };
}

/** The URL of a store, or what was meant to be one, as it may be shown: too little of it rather than too much. */
export function withoutPassword(url: string): string {
  if (!/^postgres(?:ql)?:/.test(url)) return url;
  return url.replace(/^([^/]*\/\/[^:/?@]*):.*@/s, '$1@').replace(/([?&]password=)[^&]*/, '$1…');
}

const KEY_PART = /^[A-Za-z0-9][A-Za-z0-9._=-]*$/;

/** Whether a key means a place below the store's root, whatever the driver: no part is empty, dotted or otherwise unusual. */
export function isKey(key: string): boolean {
  return key.split('/').every((part) => KEY_PART.test(part) && part.length <= 128);
}
