import { Readable } from 'node:stream';
import { isKey } from '../config/store-url';
import { ConductorError } from '../errors';

/** Thrown for a store that is damaged or was replaced: no retry can help until a person restores it. */
export class LostStoreError extends ConductorError {
  override readonly name = 'LostStoreError';
  readonly code = 'LostStore';
}

export interface StoredEntry {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/**
 * Keeps everything too long or too valuable for a workflow history: texts, finished answers and the ledger.
 *
 * `write`, `create` and `replace` are atomic: a reader sees the old bytes, the new bytes or nothing, even if a process
 * dies. They return once the data is on disk, so that it survives a power loss.
 */
export interface Store {
  /** For messages and traces, e.g. `sqlite:.conductor/store.db`. */
  readonly url: string;
  read(key: string): Promise<Buffer | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Writes only if the key has no entry. Of concurrent calls, at most one returns `true`. */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Writes others with an entry that `create` writes, in one commit: all or none. Absent if each has its own commit. */
  createWith?(key: string, bytes: Uint8Array, others: Entries): Promise<boolean>;
  /** Writes only if the key still holds exactly `was`, as `read` returned it. Of concurrent calls, at most one wins. */
  replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean>;
  stat(key: string): Promise<StoredEntry | null>;
  /** Lists every key below `prefix` (a folder-like path that ends with `/`, or ''), in ascending order. */
  list(prefix: string): Promise<string[]>;
  /** Streams every entry below `prefix` with size and age, folder by folder: there may be millions. */
  entries(prefix: string): AsyncIterable<StoredEntry>;
  /** Removes the entry under the key unless it was written at `than` or later. Returns the bytes removed, or 0. */
  removeOlder(key: string, than: Date): Promise<number>;
  /** Writes new entries in one batch. Present if a store of this kind is fast enough for texts as models write them. */
  append?(entries: Entries): Promise<void>;
  /**
   * Calls `wake` soon after entries were appended below `prefix` (`live/<digest>/`). Present if a store of this kind
   * can notify. It may miss some, so callers also need a timer. The returned function ends the subscription.
   */
  onAppend?(prefix: string, wake: () => void): () => void;
  /**
   * Cost lines in any order, named by what the ledger's rows hold: a root id for a workflow or key; for a day, a start
   * cut to the quarter of an hour. Absent if the store cannot sum.
   */
  sums?(by: Exclude<CostGroup, 'tool'>, from: string, until: string): Promise<readonly CostLine[]>;
  /** State of the models' rate limiters, shared by all processes, if a store of this kind can keep it. */
  readonly rates?: SharedStates | undefined;
  /** Returns the store's id; `make` creates one if there is none. Absent if a store of this kind has none. */
  id?(how: 'read' | 'make'): Promise<string | null>;
  /** Checks that this process may read and write, without writing anything. Absent if only a read can be tested. */
  check?(): Promise<void>;
  /** Creates the store's tables, or upgrades them to this version. Absent if the store does so by itself. */
  migrate?(): Promise<Migration>;
}

export type Entries = readonly (readonly [key: string, bytes: Uint8Array])[];

/** Subset of a store that artifacts need: files passed between trainer and workers, in a folder or a bucket. */
export type Files = Pick<Store, 'url' | 'read' | 'write' | 'stat' | 'list' | 'entries' | 'removeOlder'>;

/** Versions of the tables; `from` is null if there were none. */
export interface Migration {
  readonly from: number | null;
  readonly to: number;
}

/** Sums over the calls of one day, worker, workflow or model; the line of all calls is named `total`. */
export interface CostLine {
  readonly name: string;
  readonly calls: number;
  /** Calls that have not ended: still running, or lost with their process. */
  readonly open: number;
  /** Calls whose cost is unknown, open ones included: the real sum is at least `nanoUsd`. */
  readonly unknown: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** 10⁻⁹ USD; exact up to 9 million USD. */
  readonly nanoUsd: number;
  /** Amount saved by the providers' prompt caches; negative if writing to them cost more than reading saved. */
  readonly savedNanoUsd: number;
}

/** Calendar day: from the instant `begins` (ISO 8601, UTC) until before `ends`. */
export interface CalendarDay {
  readonly name: string;
  readonly begins: string;
  readonly ends: string;
}

/** `workflow`: a person's solve with all that it called; `key`: the gateway key that asked; `tool`: one, and how it ended. */
export const COST_GROUPS = ['day', 'worker', 'workflow', 'model', 'key', 'day-worker', 'tool'] as const;

export type CostGroup = (typeof COST_GROUPS)[number];

/** Small text that several processes change, and the current time in milliseconds by some clock. */
export interface SharedState {
  readonly text: string | null;
  readonly version: number;
  readonly now: number;
  /** Names that clock: times that processes read from clocks of one name can be compared. */
  readonly clock: string;
}

/** Lock-free states: a process that stops midway blocks no other. */
export interface SharedStates {
  read(name: string): Promise<SharedState>;
  /** Writes unless another process has written since that version. Of concurrent calls, at most one returns `true`. */
  swap(name: string, text: string, version: number): Promise<boolean>;
}

export function checkStoreKey(key: string): void {
  if (isKey(key)) return;
  throw new Error(
    `store key ${JSON.stringify(key)} is refused: each part must start with a letter or digit and contain only letters, digits and . _ = -`,
  );
}

/** Returns the JSON under a key, or null. Entries are written whole or not at all: invalid JSON was altered. */
export async function readStoredJson(store: Store, key: string): Promise<unknown> {
  const bytes = await store.read(key);
  if (bytes === null) return null;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error(
      `${key} in the store ${store.url} was altered and is no longer valid JSON: restore it from a backup`,
    );
  }
}

/** Entry whose date is the store's time. */
const CLOCK = 'clock';

/**
 * Returns the instant a while ago by the clock that dates a store's entries: the age of an entry is measured by that
 * one, since the clock of this machine may be hours off it.
 */
export async function timeAgo(store: Pick<Store, 'url' | 'write' | 'stat'>, ms: number): Promise<Date> {
  await store.write(CLOCK, Buffer.alloc(0));
  const entry = await store.stat(CLOCK);
  if (entry === null)
    throw new Error(`${store.url} lost an entry that was just written: look for who removes from it`);
  return new Date(entry.modifiedAt.getTime() - ms);
}

export interface EntryTally {
  readonly count: number;
  readonly bytes: number;
}

export interface Swept {
  readonly removed: EntryTally;
  readonly live: EntryTally;
}

/**
 * Removes entries in the given folders that were written before `than` and are not live; a dry run only counts.
 * Entries written meanwhile stay: their age is checked again right before the removal.
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

/** Concurrency that hides the latency of a distant store or server without burdening it. */
const AT_ONCE = 16;

/** Runs `work` for each item as it arrives, at most 16 at a time. Rejects with the first failure. */
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
