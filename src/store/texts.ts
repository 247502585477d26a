import { hash } from 'node:crypto';
import { ConductorError } from '../errors';
import { jsonBytes } from '../plan/plan';
import { INLINE_BYTES, MAX_TEXT_BYTES, type Text } from '../protocol/text';
import type { Store } from './store';

const PREVIEW_CHARACTERS = 120;

/** Age from which a text kept again is rewritten: `store gc` removes texts that are older than a day. */
const REFRESH_AFTER_MS = 60 * 60 * 1000;

export class TextTooLargeError extends ConductorError {
  override readonly name = 'TextTooLargeError';
  readonly code = 'TextTooLarge';
  constructor(readonly bytes: number) {
    super(`a text has ${bytes} bytes, and the store takes ${MAX_TEXT_BYTES}: lower maxOutputTokens`);
  }
}

/** Thrown for a reference to a missing text: the store was emptied, or is not the one that was written to. */
export class TextNotFoundError extends ConductorError {
  override readonly name = 'TextNotFoundError';
  readonly code = 'TextNotFound';
  constructor(ref: string, store: Store) {
    super(
      `text ${ref} is not in the store ${store.url}: every worker and client of a run must be given the same store`,
    );
  }
}

/** Stores a long text, once however often it is kept, and returns its reference. A short text is returned as it is. */
export async function keepText(store: Store, text: string, inlineBytes = INLINE_BYTES): Promise<Text> {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= inlineBytes && jsonBytes(text) <= inlineBytes) return text;
  if (bytes.length > MAX_TEXT_BYTES) throw new TextTooLargeError(bytes.length);
  const digest = hash('sha256', bytes);
  const key = textKey(digest);
  const entry = await store.stat(key);
  // eslint-disable-next-line no-restricted-syntax -- any clock is exact enough: 23 hours lie between the two ages
  const isFresh = entry !== null && entry.modifiedAt.getTime() > Date.now() - REFRESH_AFTER_MS;
  if (!isFresh) await store.write(key, bytes);
  const start = text.slice(0, PREVIEW_CHARACTERS * 2).replace(/\s{1,240}/g, ' ');
  const preview = start.trim().slice(0, PREVIEW_CHARACTERS);
  return { ref: `sha256-${digest}`, bytes: bytes.length, preview };
}

/** @throws TextNotFoundError, or Error if the bytes do not match the digest in the reference */
export async function readText(store: Store, text: Text): Promise<string> {
  if (typeof text === 'string') return text;
  const digest = digestOf(text.ref);
  if (digest === undefined) throw new TextNotFoundError(text.ref, store);
  const bytes = await store.read(textKey(digest));
  if (bytes === null) throw new TextNotFoundError(text.ref, store);
  if (hash('sha256', bytes) !== digest)
    throw new Error(
      `text ${text.ref} in the store ${store.url} does not match its SHA-256: restore the store from a backup; runs that need it fail until then`,
    );
  return bytes.toString('utf8');
}

export async function holdsText(store: Store, text: Text): Promise<boolean> {
  return typeof text === 'string' || (await store.stat(textKey(digestOf(text.ref) ?? ''))) !== null;
}

function digestOf(ref: string): string | undefined {
  return /^sha256-([0-9a-f]{64})$/.exec(ref)?.[1];
}

/** Yields every reference to a text within a value of any shape, including those inside longer strings. */
export function* refsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield* value.match(/sha256-[0-9a-f]{64}/g) ?? [];
  else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const part of Object.values(value)) yield* refsIn(part);
  }
}

/** Returns the reference to the text under a key, or null if the key is not that of a text. */
export function refAt(key: string): string | null {
  const digest = /^texts\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(key)?.[1];
  return digest === undefined ? null : `sha256-${digest}`;
}

/** Stores values as JSON lines under a key made of their digest, so that equal lists are stored once. */
export async function keepLines(
  store: Pick<Store, 'write'>,
  values: readonly unknown[],
  keyFor: (sha256: string) => string,
): Promise<{ readonly key: string; readonly sha256: string }> {
  const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const digest = hash('sha256', bytes);
  const key = keyFor(digest);
  await store.write(key, bytes);
  return { key, sha256: digest };
}

function textKey(digest: string): string {
  return `texts/${digest.slice(0, 2)}/${digest}`;
}
