import type { KeyRing } from '../encryption/key-ring';
import { folderOfPrefix, keyOfName, nameOfKey, openContent, sealContent } from '../encryption/seal';
import type { Entries, SharedStates, Store, StoredEntry } from './store';

/**
 * Store around another one that encrypts contents and every digest in a name. Equal contents under one key give equal
 * bytes, so a text is stored once however often it is kept. After a change of keys, everything is still found under
 * the old one; an equal text that is written again is stored twice until `store gc` removes the first.
 */
export class EncryptedStore implements Store {
  readonly url: string;
  /** Passed through as they are: counts under hashed names, which need no secrecy. */
  readonly rates: SharedStates | undefined;
  readonly append: Store['append'];
  readonly createWith: Store['createWith'];
  readonly onAppend: Store['onAppend'];
  /** Passed through: it is no secret, and outlives every key. */
  readonly id: Store['id'];

  constructor(
    private readonly inner: Store,
    private readonly keys: KeyRing,
  ) {
    this.url = inner.url;
    this.rates = inner.rates;
    this.id = inner.id?.bind(inner);
    const { first } = keys;
    const sealed = (entries: Entries): Entries =>
      entries.map(([key, bytes]) => [nameOfKey(key, first), sealContent(bytes, key, first)]);
    const append = inner.append?.bind(inner);
    this.append = append && ((entries) => append(sealed(entries)));
    const createWith = inner.createWith?.bind(inner);
    this.createWith =
      createWith &&
      (async (key, bytes, others) => {
        if (await this.hasUnderOther(key)) return false;
        return createWith(nameOfKey(key, first), sealContent(bytes, key, first), sealed(others));
      });
    const onAppend = inner.onAppend?.bind(inner);
    this.onAppend =
      onAppend &&
      ((prefix, wake) => {
        const ends = this.foldersOf(prefix).map((folder) => onAppend(folder, wake));
        return () => {
          for (const end of ends) end();
        };
      });
  }

  async read(key: string): Promise<Buffer | null> {
    const bytes = await this.inner.read(await this.hiddenName(key));
    return bytes === null ? null : openContent(bytes, key, this.keys);
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const { first } = this.keys;
    await this.inner.write(nameOfKey(key, first), sealContent(bytes, key, first));
  }

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    if (await this.hasUnderOther(key)) return false;
    const { first } = this.keys;
    return this.inner.create(nameOfKey(key, first), sealContent(bytes, key, first));
  }

  async replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    const name = await this.hiddenName(key);
    const sealed = await this.inner.read(name);
    if (sealed === null || !openContent(sealed, key, this.keys).equals(was)) return false;
    return this.inner.replace(name, sealContent(bytes, key, this.keys.first), sealed);
  }

  async stat(key: string): Promise<StoredEntry | null> {
    const entry = await this.newest(key);
    return entry === null ? null : { ...entry, key };
  }

  async list(prefix: string): Promise<string[]> {
    const names = await Promise.all(this.foldersOf(prefix).map((folder) => this.inner.list(folder)));
    const keys = names.flat().map((name) => this.keyOf(name));
    return [...new Set(keys)].filter((key) => key.startsWith(prefix)).sort();
  }

  async *entries(prefix: string): AsyncGenerator<StoredEntry> {
    for (const folder of this.foldersOf(prefix)) {
      for await (const entry of this.inner.entries(folder)) {
        const key = this.keyOf(entry.key);
        if (key.startsWith(prefix)) yield { ...entry, key };
      }
    }
  }

  async removeOlder(key: string, than: Date): Promise<number> {
    const removed = await Promise.all(this.namesOf(key).map((name) => this.inner.removeOlder(name, than)));
    return removed.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Returns the last entry written under a key, with its stored name: processes may differ in their first key. */
  private async newest(key: string): Promise<StoredEntry | null> {
    const found = await Promise.all(this.namesOf(key).map((name) => this.inner.stat(name)));
    return found.reduce((best, entry) => {
      const isNewer = entry !== null && (best === null || entry.modifiedAt > best.modifiedAt);
      return isNewer ? entry : best;
    }, null);
  }

  /** Whether an entry was written under another encryption key than the first. */
  private async hasUnderOther(key: string): Promise<boolean> {
    const name = nameOfKey(key, this.keys.first);
    const others = this.namesOf(key).filter((each) => each !== name);
    const found = await Promise.all(others.map((each) => this.inner.stat(each)));
    return found.some((entry) => entry !== null);
  }

  private async hiddenName(key: string): Promise<string> {
    const [only = '', ...others] = this.namesOf(key);
    return others.length === 0 ? only : ((await this.newest(key))?.key ?? only);
  }

  private namesOf(key: string): string[] {
    return [...new Set(this.keys.all.map((each) => nameOfKey(key, each)))];
  }

  private foldersOf(prefix: string): string[] {
    return [...new Set(this.keys.all.map((each) => folderOfPrefix(prefix, each)))];
  }

  private keyOf(name: string): string {
    const key = keyOfName(name, this.keys);
    if (key !== null) return key;
    throw new Error(
      `the object ${name} in the store ${this.url} was not written with "encryption": ` +
        'name another store, or read this one without it',
    );
  }
}
