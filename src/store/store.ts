import { Readable } from 'node:stream';
import { isKey } from '../config/store-url';

export interface StoredEntry {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/**
 * Keeps everything too long or too precious for a workflow history: texts, finished answers and the ledger.
 *
 * `write`, `create` and `replace` are atomic: a reader sees the old bytes, the new ones or nothing, whatever process dies
 * when. They return when the disk has what they wrote: no loss of power takes it.
 */
export interface Store {
  /** For messages and traces, e.g. `sqlite:.conductor/store.db`. */
  readonly url: string;
  read(key: string): Promise<Buffer | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Writes only where nothing lies under the key: of many that do so at once, one is told `true`. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Writes only where exactly `was`, as `read` gave it, lies under the key: of many at once, one is told `true`. */
  replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean>;
  stat(key: string): Promise<StoredEntry | null>;
  /** Every key below `prefix`, a folder-like path that ends with `/`, or ''; in ascending order. */
  list(prefix: string): Promise<string[]>;
  /** Every entry below `prefix` with size and age, folder by folder, as it is found: there may be millions. */
  entries(prefix: string): AsyncIterable<StoredEntry>;
  /** Removes what lies under the key, unless it was written at `than` or later; gives the bytes that are gone, or 0. */
  removeOlder(key: string, than: Date): Promise<number>;
  /** Writes new entries, all at once, if a store of this kind is quick enough for texts as they are written. */
  append?(entries: readonly (readonly [key: string, bytes: Uint8Array])[]): Promise<void>;
  /**
   * Calls `wake` soon after entries were appended below `prefix`, `live/<digest>/`, if a store of this kind can; what it
   * misses a timer must find. Ends when the function that it gives is called.
   */
  onAppend?(prefix: string, wake: () => void): () => void;
  /** A line for each value of a field of the ledger's rows, in any order, where a store of this kind can sum them. */
  sums?(by: SummedBy, from: string, until: string): Promise<readonly CostLine[]>;
  /** Rates of models that all processes share, if a store of this kind can keep them. */
  readonly rates?: SharedStates | undefined;
  /** Makes sure that this process may read and write, and writes nothing; where that says more than reading. */
  check?(): Promise<void>;
  /** Makes the tables of a store, or brings them to this version, where that is not done by itself. */
  migrate?(): Promise<Migration>;
}

/** The part of a store that artifacts need: what trainer and workers hand each other, in a folder or a bucket. */
export type Files = Pick<Store, 'url' | 'read' | 'write' | 'stat' | 'list' | 'entries' | 'removeOlder'>;

/** Versions of the tables; null: there were none. */
export interface Migration {
  readonly from: number | null;
  readonly to: number;
}

/** The sums of calls of a day, worker, workflow or model; `total` for all of them. */
export interface CostLine {
  readonly name: string;
  readonly calls: number;
  /** Calls that are not over: under way, or of a process that died. */
  readonly open: number;
  /** Calls whose cost is unknown, open ones included: the real sum is at least `nanoUsd`. */
  readonly unknown: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** 10⁻⁹ USD; exact up to 9 million USD. */
  readonly nanoUsd: number;
  /** By how much the prompt caches of providers made it cheaper; below 0 where more was written than read. */
  readonly savedNanoUsd: number;
}

/** A day of the calendar, from the instant `begins` (ISO 8601, UTC) until before `ends`. */
export interface Day {
  readonly name: string;
  readonly begins: string;
  readonly ends: string;
}

/** Field of the ledger's rows, or two with a space between; of `startedAt` only the quarter of an hour. */
export type SummedBy = 'startedAt' | 'worker' | 'rootId' | 'model' | 'startedAtWorker';

/** A small text that several processes change, and the time in milliseconds by the clock that they share. */
export interface SharedState {
  readonly text: string | null;
  readonly version: number;
  readonly now: number;
}

/** None is ever locked: whoever is stopped in between holds up nobody. */
export interface SharedStates {
  read(name: string): Promise<SharedState>;
  /** Writes where nobody else has since that version: of many that do so at once, one is told `true`. */
  swap(name: string, text: string, version: number): Promise<boolean>;
}

export function checkKey(key: string): void {
  if (isKey(key)) return;
  throw new Error(
    `store key ${JSON.stringify(key)} is refused: each part must begin with a letter or digit and hold letters, digits and . _ = - only`,
  );
}

/** The JSON under a key, or null. A store writes an entry whole or not at all: what is no JSON was altered. */
export async function readJson(store: Store, key: string): Promise<unknown> {
  const bytes = await store.read(key);
  if (bytes === null) return null;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error(`${key} in the store ${store.url} was altered, and is no JSON any more: put back a copy`);
  }
}

export interface Tally {
  readonly count: number;
  readonly bytes: number;
}

export interface Swept {
  readonly removed: Tally;
  readonly live: Tally;
}

/**
 * Removes from folders of a store what was written before a time and is not live; a dry run only counts. Entries written
 * while it runs stay: the age is looked at once more right before the removal.
 */
export async function sweep(
  store: Pick<Store, 'entries' | 'removeOlder'>,
  folders: readonly string[],
  { than, isLive, dryRun }: { than: Date; isLive: (key: string) => boolean; dryRun: boolean },
): Promise<Swept> {
  const removed = { count: 0, bytes: 0 };
  const live = { count: 0, bytes: 0 };
  const look = async ({ key, bytes, modifiedAt }: StoredEntry): Promise<void> => {
    if (modifiedAt >= than) return;
    const kept = isLive(key);
    const amount = kept || dryRun ? bytes : await store.removeOlder(key, than);
    if (!kept && amount === 0) return;
    const tally = kept ? live : removed;
    tally.count += 1;
    tally.bytes += amount;
  };
  for (const folder of folders) await eachInParallel(store.entries(folder), look);
  return { removed, live };
}

/** Enough to hide the latency of a distant store or server, and few enough to be no burden to it. */
const AT_ONCE = 16;

/** Does one thing for each item as it comes, 16 at a time. The first failure ends it. */
export async function eachInParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  await Readable.from(items).forEach(work, { concurrency: AT_ONCE });
}

export async function keysOf(entries: AsyncIterable<StoredEntry>): Promise<string[]> {
  const keys = [];
  for await (const { key } of entries) keys.push(key);
  return keys;
}
