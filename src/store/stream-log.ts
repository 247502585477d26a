import { hash, randomUUID } from 'node:crypto';
import { readJson, type Store } from './store';

/** A piece of the text of a step, as its model wrote it. */
export interface LiveText {
  readonly workflowId: string;
  readonly round: number;
  readonly step: number;
  /** The attempt of the call that wrote it, as its ledger row says. */
  readonly callId: string;
  readonly attempt: number;
  readonly startedAt: string;
  /** UTF-16 units of this attempt before it. */
  readonly offset: number;
  readonly text: string;
}

export const LIVE_FOLDER = 'live/';

/** Folder of the log of a run and of all runs below it; the name of a run may hold anything. */
function folderOf(rootId: string): string {
  return `${LIVE_FOLDER}${hash('sha256', rootId)}/`;
}

/** Tells whether a key belongs to the log of one of these runs, or to no log of ours. */
export function isLogOf(rootIds: Iterable<string>): (key: string) => boolean {
  const folders = new Set(Array.from(rootIds, folderOf));
  return (key) => {
    const [folder] = /^live\/[0-9a-f]{64}\//.exec(key) ?? [];
    return folder === undefined || folders.has(folder);
  };
}

/** Names of the processes that have written to a log; each writes its batches below its own, counted from 0. */
function writersOf(rootId: string): string {
  return `${folderOf(rootId)}writers/`;
}

function batchOf(rootId: string, writer: string, index: number): string {
  return `${folderOf(rootId)}${writer}/${index}.json`;
}

/** Runs whose batches a writer counts at most, however many a process serves. */
const MOST_RUNS = 2000;

/** Writes pieces of texts of any runs at once, for one process. */
export class LiveWriter {
  #name = randomUUID();
  readonly #counts = new Map<string, number>();

  constructor(private readonly store: Pick<Store, 'append'>) {}

  async write(texts: readonly (LiveText & { readonly rootId: string })[]): Promise<void> {
    if (this.#counts.size > MOST_RUNS) this.#begin();
    const batches = new Map<string, LiveText[]>();
    for (const { rootId, ...text } of texts) batches.set(rootId, [...(batches.get(rootId) ?? []), text]);
    try {
      await this.store.append?.([...batches].flatMap(([rootId, batch]) => this.#entriesOf(rootId, batch)));
    } catch (error) {
      // The store may have them or not: under another name, no batch is missing in between.
      this.#begin();
      throw error;
    }
  }

  #begin(): void {
    this.#name = randomUUID();
    this.#counts.clear();
  }

  #entriesOf(rootId: string, batch: readonly LiveText[]): [string, Buffer][] {
    const index = this.#counts.get(rootId) ?? 0;
    this.#counts.set(rootId, index + 1);
    const entry: [string, Buffer] = [batchOf(rootId, this.#name, index), Buffer.from(JSON.stringify(batch))];
    return index > 0 ? [entry] : [entry, [`${writersOf(rootId)}${this.#name}`, Buffer.from(this.#name)]];
  }
}

/** Batches that a reader holds at once, of a log that is far ahead of it. */
const MOST_AT_ONCE = 16;

/** Reads what has been written of a run's texts since the last time; a look costs what is new. */
export class LiveReader {
  /** Batches read of each writer. */
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly store: Store,
    private readonly rootId: string,
  ) {}

  /** Whether nobody tells when there is something new. */
  get isPolled(): boolean {
    return this.store.append !== undefined && this.store.onAppend === undefined;
  }

  /** Calls `wake` when there may be new pieces, where the store tells; it may miss some. */
  watch(wake: () => void): (() => void) | undefined {
    return this.store.onAppend?.(folderOf(this.rootId), wake);
  }

  /** New pieces, some at a time, each attempt's in order. */
  async *read(): AsyncGenerator<LiveText[]> {
    if (this.store.append === undefined) return;
    for (const key of await this.store.list(writersOf(this.rootId))) {
      yield* this.#readOf(key.slice(key.lastIndexOf('/') + 1));
    }
  }

  async *#readOf(writer: string): AsyncGenerator<LiveText[]> {
    for (let size = 1, isAll = false; !isAll; size = Math.min(2 * size, MOST_AT_ONCE)) {
      const from = this.#counts.get(writer) ?? 0;
      const keys = Array.from({ length: size }, (_, index) => batchOf(this.rootId, writer, from + index));
      const found = (await Promise.all(keys.map((key) => readJson(this.store, key)))) as (
        LiveText[] | null
      )[];
      const end = found.indexOf(null);
      isAll = end !== -1;
      const batches = isAll ? found.slice(0, end) : found;
      this.#counts.set(writer, from + batches.length);
      if (batches.length > 0) yield batches.flatMap((batch) => batch ?? []);
    }
  }
}
