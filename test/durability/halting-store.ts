import type { Store } from '../../src';

/** A moment of one call: just before or just after one of its writes. */
export interface Halt {
  readonly when: 'before' | 'after';
  /** Row opened before the request, id of an answer in the background, the answer, or the row completed after it. */
  readonly write: 'row' | 'id' | 'answer' | 'completed row';
  /** The worker's id, or `conductor`. */
  readonly of: string;
  /** The store commits each entry by itself, as a bucket does. */
  readonly oneByOne?: true;
}

/**
 * Returns a store around another that hangs for good at one moment, and reports it, so that a test can kill its process
 * at exactly that moment, without a clock.
 */
export function haltingStore(inner: Store, halt: Halt | null, halted: () => void): Store {
  const standStill = (): Promise<never> => {
    halted();
    return new Promise(() => undefined);
  };
  const around = async <T>(key: string, bytes: Uint8Array, work: () => Promise<T>): Promise<T> => {
    const isMeant = halt !== null && isWriteOf(halt, key, bytes);
    if (isMeant && halt.when === 'before') await standStill();
    const done = await work();
    if (isMeant) await standStill();
    return done;
  };
  const halting: Pick<Store, 'write' | 'create' | 'createWith'> = {
    write: (key, bytes) => around(key, bytes, () => inner.write(key, bytes)),
    create: (key, bytes) => around(key, bytes, () => inner.create(key, bytes)),
    createWith:
      halt?.oneByOne === true
        ? undefined
        : (key, bytes, others) =>
            around(key, bytes, async () => (await inner.createWith?.(key, bytes, others)) ?? false),
  };
  return Object.assign(Object.create(inner) as Store, halting);
}

interface Row {
  readonly worker: string;
  readonly endedAt: string | null;
}

function isWriteOf({ write, of }: Halt, key: string, bytes: Uint8Array): boolean {
  if (key.startsWith('texts/')) return false;
  // An id does not name its worker, so only one worker of a test that halts here may answer in the background.
  if (key.startsWith('background/')) return write === 'id';
  const content = JSON.parse(Buffer.from(bytes).toString('utf8')) as Row | { readonly row: Row };
  if ('row' in content) return write === 'answer' && content.row.worker === of;
  return write === (content.endedAt === null ? 'row' : 'completed row') && content.worker === of;
}
