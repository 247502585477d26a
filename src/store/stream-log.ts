import { hash, randomUUID } from 'node:crypto';
import { readStoredJson, type Store } from './store';

/** A piece of the text of a step or a plan, or of the thoughts before it, as its model wrote it. */
export interface LiveText {
  readonly workflowId: string;
  readonly round: number;
  /** null: the Conductor's reply, which is to be a plan. */
  readonly step: number | null;
  /** Turn of a step with tools, from 0. */
  readonly turn?: number | undefined;
  /** Attempt of the call that wrote it, as in its ledger row. */
  readonly callId: string;
  readonly attempt: number;
  readonly startedAt: string;
  /** UTF-16 code units that this attempt wrote to the log before this piece. */
  readonly offset: number;
  readonly text: string;
  /** It is part of the thoughts. If text was written before, that was part of them, too, and comes again. */
  readonly isThoughts?: true;
}

export const LIVE_FOLDER = 'live/';

/** Returns the folder of the log of a run and all runs below it, hashed since a run's name may contain anything. */
function folderOf(rootId: string): string {
  return `${LIVE_FOLDER}${hash('sha256', rootId)}/`;
}

/** Returns a test of whether a key belongs to the log of one of these runs, or to no log of ours. */
export function isLogOf(rootIds: Iterable<string>): (key: string) => boolean {
  const folders = new Set(Array.from(rootIds, folderOf));
  return (key) => {
    const [folder] = /^live\/[0-9a-f]{64}\//.exec(key) ?? [];
    return folder === undefined || folders.has(folder);
  };
}

/** Returns the folder of the writers' names. Each process writes its batches below its own name, counted from 0. */
function writersOf(rootId: string): string {
  return `${folderOf(rootId)}writers/`;
}

function batchOf(rootId: string, writer: string, index: number): string {
  return `${folderOf(rootId)}${writer}/${index}.json`;
}

/** Most runs whose batches a writer counts, however many its process serves. */
const MOST_RUNS = 2000;

/** Writes pieces of text for any number of runs at once, for one process. */
export class LiveWriter {
  private name = randomUUID();
  private readonly counts = new Map<string, number>();

  constructor(private readonly store: Pick<Store, 'append'>) {}

  async write(texts: readonly (LiveText & { readonly rootId: string })[]): Promise<void> {
    if (this.counts.size > MOST_RUNS) this.begin();
    const batches = new Map<string, LiveText[]>();
    for (const { rootId, ...text } of texts) batches.set(rootId, [...(batches.get(rootId) ?? []), text]);
    try {
      await this.store.append?.([...batches].flatMap(([rootId, batch]) => this.entriesOf(rootId, batch)));
    } catch (error) {
      // The store may or may not have them. A new name leaves no gap between batches.
      this.begin();
      throw error;
    }
  }

  private begin(): void {
    this.name = randomUUID();
    this.counts.clear();
  }

  private entriesOf(rootId: string, batch: readonly LiveText[]): [string, Buffer][] {
    const index = this.counts.get(rootId) ?? 0;
    this.counts.set(rootId, index + 1);
    const entry: [string, Buffer] = [batchOf(rootId, this.name, index), Buffer.from(JSON.stringify(batch))];
    return index > 0 ? [entry] : [entry, [`${writersOf(rootId)}${this.name}`, Buffer.from(this.name)]];
  }
}

/** Most batches that a reader loads at once when it is far behind the log. */
const MOST_AT_ONCE = 16;

/** Reads what was written of a run's texts since the last read. Each read costs only what is new. */
export class LiveReader {
  /** Number of batches read from each writer. */
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly store: Store,
    private readonly rootId: string,
  ) {}

  /** Whether the store does not notify of new pieces, so that readers must poll. */
  get isPolled(): boolean {
    return this.store.append !== undefined && this.store.onAppend === undefined;
  }

  /** Calls `wake` when there may be new pieces, if the store can notify; it may miss some. */
  watch(wake: () => void): (() => void) | undefined {
    return this.store.onAppend?.(folderOf(this.rootId), wake);
  }

  /** Yields new pieces, some at a time, in order within each attempt. */
  async *read(): AsyncGenerator<LiveText[]> {
    if (this.store.append === undefined) return;
    for (const key of await this.store.list(writersOf(this.rootId))) {
      yield* this.readOf(key.slice(key.lastIndexOf('/') + 1));
    }
  }

  private async *readOf(writer: string): AsyncGenerator<LiveText[]> {
    for (let size = 1, isAll = false; !isAll; size = Math.min(2 * size, MOST_AT_ONCE)) {
      const from = this.counts.get(writer) ?? 0;
      const keys = Array.from({ length: size }, (_, index) => batchOf(this.rootId, writer, from + index));
      const found = (await Promise.all(keys.map((key) => readStoredJson(this.store, key)))) as (
        LiveText[] | null
      )[];
      const end = found.indexOf(null);
      isAll = end !== -1;
      const batches = isAll ? found.slice(0, end) : found;
      this.counts.set(writer, from + batches.length);
      if (batches.length > 0) yield batches.flatMap((batch) => batch ?? []);
    }
  }
}
