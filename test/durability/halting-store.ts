import type { Store } from '../../src';

/** A moment of one call: just before or just after something of it is written. */
export interface Halt {
  readonly when: 'before' | 'after';
  /** The row that is opened before the request, the id of an answer in the background, the answer, or the row after it. */
  readonly write: 'row' | 'id' | 'answer' | 'completed row';
  /** The worker's id, or `conductor`. */
  readonly of: string;
}

/**
 * A store around another that stands still for good at one moment, and says so: whoever kills its process then, kills
 * it at exactly that moment, without a clock.
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
  const halting: Pick<Store, 'write' | 'create'> = {
    write: (key, bytes) => around(key, bytes, () => inner.write(key, bytes)),
    create: (key, bytes) => around(key, bytes, () => inner.create(key, bytes)),
  };
  return Object.assign(Object.create(inner) as Store, halting);
}

interface Row {
  readonly worker: string;
  readonly endedAt: string | null;
}

function isWriteOf({ write, of }: Halt, key: string, bytes: Uint8Array): boolean {
  if (key.startsWith('texts/')) return false;
  // An id does not say whose it is: no more than one worker of a test that halts there may be in the background.
  if (key.startsWith('background/')) return write === 'id';
  const content = JSON.parse(Buffer.from(bytes).toString('utf8')) as Row | { readonly row: Row };
  if ('row' in content) return write === 'answer' && content.row.worker === of;
  return write === (content.endedAt === null ? 'row' : 'completed row') && content.worker === of;
}
