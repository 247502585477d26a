import { hash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { randomPart } from '../../client';
import { DAY_MS } from '../../config/duration';
import { bytesOf, changeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import { FreshRecords, type Key, type KeyChecker, opens } from './keys';

// A pass stands for a key, so that a browser need not keep the key. A link works once; signing out ends a session.

const passSchema = z.object({
  keyId: z.string(),
  /** SHA-256 of the secret, which has 32 random bytes. */
  digest: z.string(),
  expiresAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
});
type Pass = Readonly<z.infer<typeof passSchema>>;

export const PASSES = {
  link: { folder: 'gateway/links/', lifeMs: DAY_MS },
  session: { folder: 'gateway/sessions/', lifeMs: 30 * DAY_MS },
};
type Kind = keyof typeof PASSES;
export const SESSION_SECONDS = PASSES.session.lifeMs / 1000;

const SECRET = /^([0-9a-z]{10})\.[\w-]{43}$/;
const passKey = (kind: Kind, id: string): string => `${PASSES[kind].folder}${id}.json`;

/** Creates a pass for a key and returns its secret. */
export async function createPass(store: Store, kind: Kind, { id: keyId }: Pick<Key, 'id'>): Promise<string> {
  const id = randomPart(10);
  const secret = `${id}.${randomBytes(32).toString('base64url')}`;
  const expiresAt = new Date(Date.now() + PASSES[kind].lifeMs).toISOString();
  const pass: Pass = { keyId, digest: hash('sha256', secret), expiresAt, endedAt: null };
  if (await store.create(passKey(kind, id), bytesOf(pass))) return secret;
  throw new Error(`the store ${store.url} already has a ${kind} ${id}: try again`);
}

/** Ends a pass, and returns its key's id; null if the pass is invalid. Only one of concurrent uses succeeds. */
async function endPass(store: Store, kind: Kind, secret: string): Promise<string | null> {
  const id = SECRET.exec(secret)?.[1];
  if (id === undefined) return null;
  return changeRecord<Pass, string | null>(store, passKey(kind, id), passSchema, (pass) => {
    if (pass === null || !holds(pass, secret)) return [null, null];
    return [{ ...pass, endedAt: new Date().toISOString() }, pass.keyId];
  });
}

function holds(pass: Pass, secret: string): boolean {
  return opens(secret, pass) && pass.endedAt === null && Date.now() < Date.parse(pass.expiresAt);
}

/** Looks up the key that a browser is signed in with. A session ends with its key. */
export class Sessions {
  private readonly passes: FreshRecords<Pass>;

  constructor(
    private readonly store: Store,
    private readonly keys: KeyChecker,
  ) {
    this.passes = new FreshRecords(store, (id) => passKey('session', id), passSchema);
  }

  /** Opens a session with a link or a key, and returns its secret; null if neither is valid. */
  async open(shown: { readonly link?: string; readonly key?: string }): Promise<string | null> {
    const keyId = shown.link === undefined ? null : await endPass(this.store, 'link', shown.link);
    const key = keyId === null ? await this.keys.check(shown.key ?? '') : await this.keys.find(keyId);
    return key === null ? null : createPass(this.store, 'session', key);
  }

  /** Returns the key of a session; null if the session is invalid. */
  async check(secret: string): Promise<Key | null> {
    const id = SECRET.exec(secret)?.[1];
    const pass = id === undefined ? null : await this.passes.read(id);
    return pass !== null && holds(pass, secret) ? this.keys.find(pass.keyId) : null;
  }

  async close(secret: string): Promise<void> {
    await endPass(this.store, 'session', secret);
    this.passes.forget(secret.slice(0, secret.indexOf('.')));
  }
}
