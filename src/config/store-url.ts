export type StorePlace =
  | { readonly kind: 'sqlite'; readonly path: string }
  /** `prefix` is empty, or ends with `/`. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** Connection string for `pg`; may contain a password. */
      readonly connection: string;
      readonly schema: string;
      /** `postgres://HOST[:PORT]`, or the folder of a socket in place of the host. */
      readonly server: string;
      /** Whether the URL contains the password and names no certificate files of this machine. */
      readonly bringsPassword: boolean;
    };

/** Bucket names by AWS's rules: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export const STORE_URL_FORMS =
  'sqlite:PATH, postgres://USER@HOST/DATABASE or s3://BUCKET/PREFIX, e.g. sqlite:.conductor/store.db';

export const DEFAULT_STORE = 'sqlite:.conductor/store.db';

/**
 * Reads `sqlite:PATH`, `s3://BUCKET[/PREFIX]` or
 * `postgres://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?schema=NAME&sslmode=MODE…]`; null for anything else.
 */
export function readStoreUrl(url: string): StorePlace | null {
  const path = /^sqlite:([^?]+)$/s.exec(url)?.[1];
  return path === undefined ? (readS3Url(url) ?? readPostgresUrl(url)) : { kind: 'sqlite', path };
}

function readS3Url(url: string): StorePlace | null {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/s.exec(url) ?? [];
  if (!BUCKET.test(bucket)) return null;
  if (prefix === '') return { kind: 's3', bucket, prefix };
  return isKey(prefix) ? { kind: 's3', bucket, prefix: `${prefix}/` } : null;
}

/** `schema`, and options of PostgreSQL's own programs without the `sslmode`s that may fall back to no encryption. */
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
  if (!isComplete(parsed)) return null;
  const { port, password, searchParams: options } = parsed;
  const host = hostOf(parsed);
  const schema = options.get('schema') ?? 'conductor';
  options.delete('schema');
  const hasFiles = [...options.keys()].some((name) => /^ssl(?!mode)/.test(name));
  const mode = isThisMachine(host) && !hasFiles ? 'disable' : 'verify-full';
  // Always set, since `pg` would otherwise use PGSSLMODE.
  options.set('sslmode', options.get('sslmode') ?? mode);
  // Gives the modes the meaning that they have in PostgreSQL's own programs.
  options.set('uselibpqcompat', 'true');
  return {
    kind: 'postgres',
    url: withoutPassword(url),
    connection: parsed.href,
    schema,
    server: `postgres://${host}${port && `:${port}`}`,
    bringsPassword: password !== '' && !hasFiles,
  };
}

function hostOf({ hostname, searchParams }: URL): string {
  return searchParams.get('host') ?? hostname;
}

/** Whether a URL is complete. An option must not repeat: `pg` would use another occurrence than is read here. */
function isComplete(url: URL): boolean {
  const { pathname, hash, searchParams: options } = url;
  const fit = [...options].every(([name, value]) => POSTGRES_OPTIONS[name]?.test(value));
  const isOnce = new Set(options.keys()).size === options.size;
  return POSTGRES_HOST.test(hostOf(url)) && /^\/[^/]+$/.test(pathname) && hash === '' && fit && isOnce;
}

/** One host name, address or socket folder: nothing that `pg` would decode or replace by PGHOST. */
const POSTGRES_HOST = /^(?:[\w.-]+|\[[\da-f:.]+\]|\/.+)$/i;

function isThisMachine(host: string): boolean {
  return /^(?:\/.*|localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(host);
}

/** Returns a store's URL, valid or not, without its password for display; may remove more than the password. */
export function withoutPassword(url: string): string {
  if (!/^postgres(?:ql)?:/.test(url)) return url;
  return url.replace(/^([^/]*\/\/[^:/?@]*):.*@/s, '$1@').replace(/([?&]password=)[^&]*/, '$1…');
}

const KEY_PART = /^[A-Za-z0-9][A-Za-z0-9._=-]*$/;

/** Whether a key is a place below the store's root for every driver: no part is empty, dotted or otherwise unusual. */
export function isKey(key: string): boolean {
  return key.split('/').every((part) => KEY_PART.test(part) && part.length <= 128);
}
