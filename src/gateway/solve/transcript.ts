import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { DAY_MS } from '../../config/duration';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { type Store, timeAgo } from '../../store/store';
import { bytesOf, readRecord } from '../../store/records';

const FOLDER = 'gateway/streams/';

const entrySchema = z.object({
  /** Position from which the next entry continues. */
  cursor: z.string(),
  events: z.array(z.unknown()),
  isOver: z.boolean(),
});

interface Entry<Event> extends Omit<z.infer<typeof entrySchema>, 'events'> {
  readonly events: readonly Event[];
}

export interface Happening<Event> {
  readonly cursor: string;
  /** JSON value. */
  readonly event: Event;
  readonly isLast: boolean;
}

interface Recorded<Event> {
  readonly store: Store;
  /** Id of the recorded solve. */
  readonly id: string;
  /** Opens the events after a cursor, or from the beginning. Called once all recorded events were read. */
  readonly open: (after: string | undefined, signal: AbortSignal) => AsyncIterable<Happening<Event>>;
}

/** Minimum interval between two entries. */
const ENTRY_MS = 200;
const MOST_EVENTS = 500;
/** Interval and number of a reader's polls for an entry of another reader, before it makes the entry itself. */
const LOOK_MS = 100;
const LOOKS = 20;

const KEY = /^gateway\/streams\/([^/]+)\/(\d+)\.json$/;

function entryKey(id: string, index: number): string {
  return `${FOLDER}${id}/${String(index).padStart(8, '0')}.json`;
}

/**
 * Tells the events of a solve to all readers in one order, in any process and at any time. Each reader takes the
 * stored entries, then makes the next one from what happens after the last. If several readers make it, the store
 * keeps the first, which the others tell as well. No event is told before it is stored.
 */
export class Transcript<Event> {
  private cursor: string | undefined;
  /** Open while this reader makes the entries. */
  private live: Live<Event> | null = null;
  private hasRivals = false;

  constructor(private readonly recorded: Recorded<Event>) {}

  /** Yields all events from the first to the last, or until the signal is aborted. */
  async *follow(signal: AbortSignal): AsyncGenerator<Event> {
    try {
      for (let index = 0; ; index += 1) {
        const found = this.live === null ? await this.find(index, signal) : null;
        const entry = found ?? (await this.make(index, signal));
        if (entry === null) return;
        yield* entry.events;
        if (entry.isOver) return;
        this.cursor = entry.cursor;
      }
    } finally {
      this.close();
    }
  }

  /** Reads an entry. If another reader makes the entries, waits a while for it. */
  private async find(index: number, signal: AbortSignal): Promise<Entry<Event> | null> {
    for (let looks = this.hasRivals ? LOOKS : 1; looks > 0 && !signal.aborted; looks -= 1) {
      const entry = await readEntry<Event>(this.recorded, index);
      if (entry !== null) return entry;
      if (looks > 1) await pause(LOOK_MS, null, { signal }).catch(() => undefined);
    }
    return null;
  }

  /** Writes the next entry, and returns the one that the store has; null if the signal was aborted. */
  private async make(index: number, signal: AbortSignal): Promise<Entry<Event> | null> {
    this.live ??= new Live((own) => this.recorded.open(this.cursor, own), signal);
    const entry = await this.live.take();
    if (entry === null) return null;
    const isFirst = await this.recorded.store.create(entryKey(this.recorded.id, index), bytesOf(entry));
    if (isFirst) return entry;
    this.close();
    this.hasRivals = true;
    return readEntry<Event>(this.recorded, index);
  }

  private close(): void {
    this.live?.close();
    this.live = null;
  }
}

/** Whether all events of a solve were told to some reader. */
export async function isRecordedToEnd(store: Store, id: string): Promise<boolean> {
  for (let index = 0; ; index += 1) {
    const entry = await readEntry({ store, id }, index);
    if (entry === null || entry.isOver) return entry !== null;
  }
}

async function readEntry<Event>(
  { store, id }: Pick<Recorded<Event>, 'store' | 'id'>,
  index: number,
): Promise<Entry<Event> | null> {
  return (await readRecord(store, entryKey(id, index), entrySchema)) as Entry<Event> | null;
}

/** Batches events into entries: each has the events until it is due, at most `MOST_EVENTS`. */
class Live<Event> {
  private readonly gone = new AbortController();
  private readonly happenings: AsyncIterator<Happening<Event>>;
  private next: Promise<IteratorResult<Happening<Event>>>;
  private takenAt = 0;

  constructor(open: (signal: AbortSignal) => AsyncIterable<Happening<Event>>, signal: AbortSignal) {
    this.happenings = open(AbortSignal.any([this.gone.signal, signal]))[Symbol.asyncIterator]();
    this.next = this.ask();
  }

  /** Waits for events. Returns null if they end before the last one, since the signal was aborted. */
  async take(): Promise<Entry<Event> | null> {
    const events: Event[] = [];
    let clock: Promise<null> | undefined;
    for (let cursor = ''; ;) {
      const got = await (clock === undefined ? this.next : Promise.race([this.next, clock]));
      if (got === null) return { cursor, events, isOver: false };
      if (got.done === true) return null;
      cursor = got.value.cursor;
      events.push(got.value.event);
      if (got.value.isLast) return { cursor, events, isOver: true };
      this.next = this.ask();
      if (events.length >= MOST_EVENTS) return { cursor, events, isOver: false };
      clock ??= this.untilNext();
    }
  }

  close(): void {
    this.gone.abort();
    void this.happenings.return?.().catch(() => undefined);
  }

  private ask(): Promise<IteratorResult<Happening<Event>>> {
    const next = this.happenings.next();
    // Avoids an unhandled rejection when nobody waits for it any more.
    next.catch(() => undefined);
    return next;
  }

  /** Waits until the next entry is due: at once after a silence, else `ENTRY_MS` after the last one. */
  private async untilNext(): Promise<null> {
    await pause(Math.max(0, this.takenAt + ENTRY_MS - Date.now()));
    this.takenAt = Date.now();
    return null;
  }
}

/**
 * Removes transcripts without a new entry for a day, if they are complete or their solve can no longer run. Otherwise
 * a later entry, added after the earlier ones were removed, would be told twice.
 */
export async function forgetTranscripts(store: Store): Promise<void> {
  const than = await timeAgo(store, DAY_MS);
  const longAgo = new Date(than.getTime() + DAY_MS - MAX_WALL_CLOCK_MS);
  for (const [id, last] of await lastEntries(store)) {
    if (last.modifiedAt >= than || !(last.modifiedAt < longAgo || (await isComplete(store, id, last))))
      continue;
    // Removes the last entries first, so that an interruption leaves a valid beginning.
    for (let index = last.index; index >= 0; index -= 1) await store.removeOlder(entryKey(id, index), than);
  }
}

interface LastEntry {
  readonly index: number;
  readonly modifiedAt: Date;
}

async function lastEntries(store: Store): Promise<Map<string, LastEntry>> {
  const lasts = new Map<string, LastEntry>();
  for await (const { key, modifiedAt } of store.entries(FOLDER)) {
    const [, id, digits] = KEY.exec(key) ?? [];
    const index = Number(digits);
    if (id !== undefined && index >= (lasts.get(id)?.index ?? 0)) lasts.set(id, { index, modifiedAt });
  }
  return lasts;
}

async function isComplete(store: Store, id: string, { index }: LastEntry): Promise<boolean> {
  return (await readEntry({ store, id }, index))?.isOver === true;
}
