import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { randomPart } from '../../client';
import { someOf } from '../../config/errors';
import { UsageError } from '../../errors';
import { MAX_COST_USD } from '../../protocol/messages';
import type { Store } from '../../store/store';
import { bytesOf, changeRecord, readRecord, readRecords } from '../../store/records';

const keySchema = z.object({
  /** Public: workflow ids of the key's solves begin with `gw-<id>-`. */
  id: z.string().regex(/^[0-9a-z]{10}$/),
  name: z.string().min(1).max(64),
  /** May do what concerns all keys, such as promoting a checkpoint. */
  isAdmin: z.boolean(),
  /** Names of models, or prefixes of names followed by `*`; null allows all. */
  models: z.array(z.string().min(1)).nullable(),
  /** Budget per UTC day; null: no limit. */
  usdPerDay: z.number().min(0).max(MAX_COST_USD).nullable(),
  /** Each gateway keeps the times of this many requests in memory, hence the maximum. */
  requestsPerMinute: z.int().min(1).max(60_000).nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  /** SHA-256 of the secret, whose 32 random bytes cannot be guessed: a slow hash would add nothing. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A key of the gateway as it is stored, without its secret. */
export type Key = Readonly<z.infer<typeof keySchema>>;

export type KeySettings = Omit<Key, 'id' | 'createdAt' | 'revokedAt' | 'digest'>;

const FOLDER = 'gateway/keys/';
const recordKey = (id: string): string => `${FOLDER}${id}.json`;
const SECRET = /^sk-tc-([0-9a-z]{10})-[\w-]{43}$/;

/** Creates a key; only the caller learns its secret. @throws UsageError if the name is taken */
export async function createKey(store: Store, settings: KeySettings): Promise<{ key: Key; secret: string }> {
  const named = (await listKeys(store)).find(({ name, revokedAt }) => {
    return name === settings.name && revokedAt === null;
  });
  if (named !== undefined) {
    const what = `there is a key named ${JSON.stringify(named.name)} already (${named.id})`;
    throw new UsageError(`${what}: choose another name, or revoke that key first`);
  }
  const id = randomPart(10);
  const secret = `sk-tc-${id}-${randomBytes(32).toString('base64url')}`;
  const createdAt = new Date().toISOString();
  const key = keySchema.parse({
    ...settings,
    id,
    createdAt,
    revokedAt: null,
    digest: hash('sha256', secret),
  });
  if (await store.create(recordKey(id), bytesOf(key))) return { key, secret };
  throw new Error(`the store ${store.url} already has a key ${id}: try again`);
}

/** Returns all keys, including revoked and expired ones, oldest first. */
export async function listKeys(store: Store): Promise<Key[]> {
  const keys = await readRecords(store, FOLDER, keySchema);
  const orderOf = ({ createdAt, id }: Key): string => `${createdAt} ${id}`;
  return keys.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

/** Revokes a key for good, unless it is revoked already. @throws UsageError if not exactly one key matches */
export async function revokeKey(store: Store, idOrName: string): Promise<Key> {
  const { id } = requireNamedKey(await listKeys(store), idOrName, store);
  const revoked = await changeRecord(store, recordKey(id), keySchema, (key) => {
    if (key?.revokedAt !== null) return [null, key];
    const next = { ...key, revokedAt: new Date().toISOString() };
    return [next, next];
  });
  if (revoked === null)
    throw new Error(
      `key ${id} is no longer in the store ${store.url}, so nothing accepts it: see "temporal-conductor key list"`,
    );
  return revoked;
}

function requireNamedKey(keys: readonly Key[], idOrName: string, { url }: Store): Key {
  const withId = keys.find(({ id }) => id === idOrName);
  if (withId !== undefined) return withId;
  const usable = keys.filter(({ revokedAt }) => revokedAt === null);
  const [named, ...others] = usable.filter(({ name }) => name === idOrName);
  const asked = JSON.stringify(idOrName);
  if (named === undefined) {
    const known = usable.map(({ name, id }) => `${name} (${id})`);
    const rest = known.length === 0 ? 'nor any other' : `only ${someOf(known)}`;
    throw new UsageError(`the store ${url} has no key ${asked} to revoke, ${rest}: check the name or id`);
  }
  if (others.length === 0) return named;
  const ids = someOf([named, ...others].map(({ id }) => id));
  throw new UsageError(`more than one key is named ${asked}: give one of their ids, ${ids}`);
}

/** Lifetime of a cached record; a change by another process is seen at most this much later. */
const FRESH_MS = 5_000;

/** Cache of a folder's records, read on each request. Missing records are not kept: guesses take no memory. */
export class FreshRecords<Value> {
  private readonly known = new Map<string, { readonly value: Promise<Value | null>; readonly at: number }>();

  constructor(
    private readonly store: Store,
    private readonly recordKeyOf: (id: string) => string,
    private readonly schema: z.ZodType<Value>,
  ) {}

  /** Returns a record; concurrent requests share one read. */
  read(id: string): Promise<Value | null> {
    const now = performance.now();
    const before = this.known.get(id);
    if (before !== undefined && now - before.at < FRESH_MS) return before.value;
    const read = { value: readRecord(this.store, this.recordKeyOf(id), this.schema), at: now };
    this.known.set(id, read);
    const forget = (): void => {
      if (this.known.get(id) === read) this.forget(id);
    };
    read.value.then((value) => {
      if (value === null) forget();
    }, forget);
    return read.value;
  }

  forget(id: string): void {
    this.known.delete(id);
  }
}

/** Finds the key that a secret belongs to. A revoked key is refused within five seconds. */
export class KeyChecker {
  private readonly keys: FreshRecords<Key>;

  constructor(store: Store) {
    this.keys = new FreshRecords(store, recordKey, keySchema);
  }

  /** Returns the key of a secret; null if it is malformed, unknown, wrong, expired or revoked. */
  async check(secret: string): Promise<Key | null> {
    const id = SECRET.exec(secret)?.[1];
    const key = id === undefined ? null : await this.find(id);
    return key !== null && opens(secret, key) ? key : null;
  }

  /** Returns the key of an id; null if it is unknown, expired or revoked. */
  async find(id: string): Promise<Key | null> {
    const key = await this.keys.read(id);
    return key !== null && isUsable(key) ? key : null;
  }
}

/** Compares in constant time: the duration does not depend on how much of a guess is right. */
export function opens(secret: string, { digest }: Pick<Key, 'digest'>): boolean {
  return timingSafeEqual(hash('sha256', secret, 'buffer'), Buffer.from(digest, 'hex'));
}

/** Whether a key is neither revoked nor expired. */
export function isUsable({ revokedAt, expiresAt }: Key): boolean {
  return revokedAt === null && (expiresAt === null || Date.now() < Date.parse(expiresAt));
}

const MINUTE_MS = 60_000;

/**
 * Limits the requests of each key in this process to `requestsPerMinute` in any 60 seconds. Keys without a request in
 * the last minute are forgotten.
 */
export class RequestRates {
  /** Times of each key's last requests, as many as it may send a minute; the key with the latest one comes last. */
  private readonly times = new Map<string, number[]>();

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a request and returns null. Above the rate, counts nothing and returns the whole seconds to wait. */
  take({ id, requestsPerMinute }: Pick<Key, 'id' | 'requestsPerMinute'>): number | null {
    if (requestsPerMinute === null) return null;
    const now = this.now();
    for (const [silent, times] of this.times) {
      if (now - (times.at(-1) ?? 0) < MINUTE_MS) break;
      this.times.delete(silent);
    }
    const times = this.times.get(id) ?? [];
    const waitMs = (times.at(-requestsPerMinute) ?? -Infinity) + MINUTE_MS - now;
    if (waitMs > 0) return Math.ceil(waitMs / 1000);
    times.push(now);
    if (times.length > requestsPerMinute) times.shift();
    this.times.delete(id);
    this.times.set(id, times);
    return null;
  }
}
