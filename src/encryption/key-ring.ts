import type { EncryptionKey } from './encryption-key';

/** Something was encrypted with a key that this process does not hold. Trying again helps only where another does. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';
}

/**
 * The keys of one process. The first encrypts and all of them decrypt, which is how keys are changed without a pause:
 *
 * 1. put the new key second, everywhere: from here on, every process can read what it will encrypt;
 * 2. put it first, everywhere;
 * 3. take the old one out once nothing is left that it encrypted: runs within the server's retention, stored texts and
 *    answers (`store gc`), and the ledger, whose rows stay for good.
 */
export class KeyRing {
  /** The first, then those that only decrypt. */
  readonly all: readonly EncryptionKey[];
  private readonly byId: ReadonlyMap<string, EncryptionKey>;

  /** @param source where the keys came from, for messages: the name of an environment variable */
  constructor(
    readonly first: EncryptionKey,
    others: readonly EncryptionKey[],
    private readonly source: string,
  ) {
    this.all = [first, ...others];
    this.byId = new Map(this.all.map((key) => [key.id, key]));
  }

  /**
   * The key of that id.
   *
   * @param what begins the sentence where there is none, e.g. `a payload`
   * @throws UnknownKeyError
   */
  find(id: string, what: string): EncryptionKey {
    const key = this.byId.get(id);
    if (key !== undefined) return key;
    throw new UnknownKeyError(
      `${what} was encrypted with key ${JSON.stringify(id)}, which ${this.source} does not hold ` +
        `(it holds ${[...this.byId.keys()].join(', ')}): add that key behind the first one`,
    );
  }
}
