import { hash } from 'node:crypto';
import { ConductorError } from '../errors';
import { jsonBytes } from '../plan/plan';
import { INLINE_BYTES, MAX_TEXT_BYTES, type Text } from '../protocol/text';
import { recentTexts } from './recent-texts';
import type { Entries, Store } from './store';

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

/** Texts that are stored in one commit with what refers to them. */
export class NewTexts {
  private readonly byKey = new Map<string, Buffer>();

  constructor(private readonly store: Store) {}

  get entries(): Entries {
    return [...this.byKey];
  }

  /** Adds a long text, and returns its reference. A short text is returned as it is. @throws TextTooLargeError */
  add(text: string, inlineBytes = INLINE_BYTES): Text {
    const bytes = Buffer.from(text, 'utf8');
    if (bytes.length <= inlineBytes && jsonBytes(text) <= inlineBytes) return text;
    if (bytes.length > MAX_TEXT_BYTES) throw new TextTooLargeError(bytes.length);
    const digest = hash('sha256', bytes);
    this.byKey.set(textKey(digest), bytes);
    const ref = `sha256-${digest}`;
    recentTexts(this.store).set(ref, text);
    const start = text.slice(0, PREVIEW_CHARACTERS * 2).replace(/\s{1,240}/g, ' ');
    const preview = start.trim().slice(0, PREVIEW_CHARACTERS);
    return { ref, bytes: bytes.length, preview };
  }
}

/** Stores a long text, once however often it is kept, and returns its reference. A short text is returned as it is. */
export async function keepText(store: Store, text: string, inlineBytes = INLINE_BYTES): Promise<Text> {
  const texts = new NewTexts(store);
  const kept = texts.add(text, inlineBytes);
  for (const [key, bytes] of texts.entries) {
    const entry = await store.stat(key);
    // eslint-disable-next-line no-restricted-syntax -- any clock is exact enough: 23 hours lie between the two ages
    const isFresh = entry !== null && entry.modifiedAt.getTime() > Date.now() - REFRESH_AFTER_MS;
    if (!isFresh) await store.write(key, bytes);
  }
  return kept;
}

/** @throws TextNotFoundError, or Error if the bytes do not match the digest in the reference */
export async function readText(store: Store, text: Text): Promise<string> {
  if (typeof text === 'string') return text;
  return recentTexts(store).get(text.ref) ?? findText(store, text.ref);
}

async function findText(store: Store, ref: string): Promise<string> {
  const digest = digestOf(ref);
  if (digest === undefined) throw new TextNotFoundError(ref, store);
  const bytes = await store.read(textKey(digest));
  if (bytes === null) throw new TextNotFoundError(ref, store);
  if (hash('sha256', bytes) !== digest)
    throw new Error(
      `text ${ref} in the store ${store.url} does not match its SHA-256: restore the store from a backup; runs that need it fail until then`,
    );
  const text = bytes.toString('utf8');
  recentTexts(store).set(ref, text);
  return text;
}

export async function holdsText(store: Store, text: Text): Promise<boolean> {
  return typeof text === 'string' || (await store.stat(textKey(digestOf(text.ref) ?? ''))) !== null;
}

function digestOf(ref: string): string | undefined {
  return /^sha256-([0-9a-f]{64})$/.exec(ref)?.[1];
}

function textKey(digest: string): string {
  return `texts/${digest.slice(0, 2)}/${digest}`;
}
