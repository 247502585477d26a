import type { Store, StoredEntry } from '../../src';

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
export class HaltingStore implements Store {
  readonly url: string;
  readonly rates: Store['rates'];

  constructor(
    private readonly inner: Store,
    private readonly halt: Halt | null,
    private readonly halted: () => void,
  ) {
    this.url = inner.url;
    this.rates = inner.rates;
  }

  read(key: string): Promise<Buffer | null> {
    return this.inner.read(key);
  }

  stat(key: string): Promise<StoredEntry | null> {
    return this.inner.stat(key);
  }

  list(prefix: string): Promise<string[]> {
    return this.inner.list(prefix);
  }

  entries(prefix: string): AsyncIterable<StoredEntry> {
    return this.inner.entries(prefix);
  }

  removeOlder(key: string, than: Date): Promise<number> {
    return this.inner.removeOlder(key, than);
  }

  replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    return this.inner.replace(key, bytes, was);
  }

  write(key: string, bytes: Uint8Array): Promise<void> {
    return this.around(key, bytes, () => this.inner.write(key, bytes));
  }

  create(key: string, bytes: Uint8Array): Promise<boolean> {
    return this.around(key, bytes, () => this.inner.create(key, bytes));
  }

  private async around<T>(key: string, bytes: Uint8Array, work: () => Promise<T>): Promise<T> {
    const isMeant = this.halt !== null && isWriteOf(this.halt, key, bytes);
    if (isMeant && this.halt.when === 'before') await this.standStill();
    const done = await work();
    if (isMeant) await this.standStill();
    return done;
  }

  private standStill(): Promise<never> {
    this.halted();
    return new Promise(() => undefined);
  }
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
