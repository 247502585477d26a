/** At most so many entries, of 16 bytes each with the room between them. */
const MOST_ENTRIES = 4 * 2 ** 20;

/** A run that is known: the row that had it first, and how many rows have it, up to 255. */
export interface KnownRun {
  readonly row: number;
  readonly rows: number;
}

/**
 * Which row of texts had a run of words first, by the run's hash. Where there are more than 4 million, every second hash is
 * forgotten, then every fourth and so on: memory has a bound, and what is left tells the same about long texts.
 */
export class RunTable {
  private hashes = new Float64Array(1024).fill(EMPTY);
  private firstRows = new Int32Array(1024);
  private counts = new Uint8Array(1024);
  private entries = 0;
  private oneOf = 1;

  constructor(private readonly most = MOST_ENTRIES) {}

  /** Whether such a run is kept at all. */
  keeps(hash: number): boolean {
    return hash % this.oneOf === 0;
  }

  /** Notes a run of a row; each run of it once. */
  add(hash: number, row: number): void {
    if (!this.keeps(hash)) return;
    const at = this.slotOf(hash);
    if (this.hashes[at] === EMPTY) {
      this.put(at, hash, row, 1);
      this.entries += 1;
      if (this.entries > this.most) this.thin();
      else if (2 * this.entries > this.hashes.length) this.resize(2 * this.hashes.length);
    } else this.counts[at] = Math.min(255, (this.counts[at] ?? 0) + 1);
  }

  find(hash: number): KnownRun | null {
    const at = this.slotOf(hash);
    if (this.hashes[at] === EMPTY) return null;
    return { row: this.firstRows[at] ?? 0, rows: this.counts[at] ?? 0 };
  }

  private thin(): void {
    this.oneOf *= 2;
    this.resize(this.hashes.length);
  }

  private resize(size: number): void {
    const [hashes, rows, counts] = [this.hashes, this.firstRows, this.counts];
    this.hashes = new Float64Array(size).fill(EMPTY);
    this.firstRows = new Int32Array(size);
    this.counts = new Uint8Array(size);
    this.entries = 0;
    for (const [at, hash] of hashes.entries()) {
      if (hash === EMPTY || !this.keeps(hash)) continue;
      this.put(this.slotOf(hash), hash, rows[at] ?? 0, counts[at] ?? 0);
      this.entries += 1;
    }
  }

  private put(at: number, hash: number, row: number, count: number): void {
    this.hashes[at] = hash;
    this.firstRows[at] = row;
    this.counts[at] = count;
  }

  /** Where a hash is, or would be. */
  private slotOf(hash: number): number {
    const mask = this.hashes.length - 1;
    // Its lower bits decide what is kept: those above them, where it is.
    let at = Math.floor(hash / 2 ** 20) & mask;
    while (this.hashes[at] !== EMPTY && this.hashes[at] !== hash) at = (at + 1) & mask;
    return at;
  }
}

const EMPTY = -1;
