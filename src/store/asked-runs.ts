import { z } from 'zod';
import { bytesOf, readRecord } from './records';
import { eachInParallel, type Store } from './store';

/** Folder of the notes on runs that requests asked for, so that a request that comes again finds its run. */
export const ASKED_RUNS = 'gateway/asked/';

const noteSchema = z.object({
  /**
   * What became of the run's answer. `told`: it is being sent, or its gateway died; `cut`: it broke off; `whole`: all of
   * it was sent; `failed`: an error was sent in its place; `left`: its client left, and had the run cancelled.
   */
  state: z.enum(['told', 'cut', 'whole', 'failed', 'left']),
  /** Gateway process that sends the answer. */
  gateway: z.string(),
  /** Tells the latest sending from those before it. */
  sending: z.string(),
});
export type AskedNote = Readonly<z.infer<typeof noteSchema>>;

/** A run that a request asked for. */
export interface AskedRun {
  readonly key: string;
  readonly id: string;
  readonly note: AskedNote;
  /** Time of the note's last change, by the store's clock. */
  readonly changedAt: Date;
}

/** Returns the id of the run that a note is about; null for other objects. */
export function askedRunAt(key: string): string | null {
  return /^gateway\/asked\/[^/]{1,100}\/([^/]{1,200})\.json$/.exec(key)?.[1] ?? null;
}

/** Returns the runs that a request asked for, the latest first. @param request digest of the request */
export async function readAskedRuns(store: Store, request: string): Promise<AskedRun[]> {
  const runs: AskedRun[] = [];
  await eachInParallel(store.entries(`${ASKED_RUNS}${request}/`), async ({ key, modifiedAt: changedAt }) => {
    const id = askedRunAt(key);
    const note = await readAskedNote(store, key);
    if (id !== null && note !== null) runs.push({ key, id, note, changedAt });
  });
  return runs.sort((one, other) => other.changedAt.getTime() - one.changedAt.getTime());
}

/** Returns the note under a key, or null if it is gone. @throws RecordError if another version wrote it */
export function readAskedNote(store: Store, key: string): Promise<AskedNote | null> {
  return readRecord(store, key, noteSchema);
}

/** Notes a run before it starts. Returns the note's key. */
export async function noteAskedRun(
  store: Store,
  request: string,
  runId: string,
  note: AskedNote,
): Promise<string> {
  const key = `${ASKED_RUNS}${request}/${runId}.json`;
  await store.create(key, written(note));
  return key;
}

/** Changes a note. Returns false if somebody else did meanwhile. */
export function changeAskedNote(
  store: Store,
  key: string,
  was: AskedNote,
  next: AskedNote,
): Promise<boolean> {
  return store.replace(key, written(next), written(was));
}

/** Equal notes have equal bytes. */
function written(note: AskedNote): Buffer {
  return bytesOf(noteSchema.parse(note));
}
