import { createHash } from 'node:crypto';
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
  return `${LIVE_FOLDER}${createHash('sha256').update(rootId).digest('hex')}/`;
}

/** Tells whether a key belongs to the log of one of these runs, or to no log of ours. */
export function isLogOf(rootIds: Iterable<string>): (key: string) => boolean {
  const folders = new Set(Array.from(rootIds, folderOf));
  return (key) => {
    const [folder] = /^live\/[0-9a-f]{64}\//.exec(key) ?? [];
    return folder === undefined || folders.has(folder);
  };
}

const DIGITS = 12;

/** Writes pieces of texts of any runs at once. */
export async function keepLive(
  store: Pick<Store, 'append'>,
  texts: readonly (LiveText & { readonly rootId: string })[],
): Promise<void> {
  const entries = texts.map(({ rootId, ...text }): [string, Buffer] => {
    const { callId, attempt, offset } = text;
    const name = `${attempt}-${String(offset).padStart(DIGITS, '0')}.json`;
    return [`${folderOf(rootId)}${callId}/${name}`, Buffer.from(JSON.stringify(text))];
  });
  await store.append?.(entries);
}

/** Reads what has been written of a run's texts since the last time. */
export class LiveReader {
  readonly #seen = new Set<string>();

  constructor(
    private readonly store: Store,
    private readonly rootId: string,
  ) {}

  /** Pieces that are new, each attempt's in order. */
  async read(): Promise<LiveText[]> {
    const keys = (await this.store.list(folderOf(this.rootId))).filter((key) => !this.#seen.has(key));
    const found = await Promise.all(keys.map((key) => readJson(this.store, key)));
    for (const key of keys) this.#seen.add(key);
    return found.flatMap((text) => (text === null ? [] : [text as LiveText]));
  }
}
