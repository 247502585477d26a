import { type LiveText, LiveWriter } from '../store/stream-log';
import type { Store } from '../store/store';

const FLUSH_MS = 200;
const FLUSH_CHARACTERS = 1024;
/** Most text buffered while the store stalls; the rest is dropped, and readers get it when its step ends. */
const MOST_CHARACTERS = 1024 * 1024;

type Place = Omit<LiveText, 'offset' | 'text'> & { readonly rootId: string };
type Piece = Place & Pick<LiveText, 'offset' | 'text'>;

/**
 * Writes texts to the stream log of a store as they arrive, batched over all calls of a process, every 200 ms or 1,024
 * characters. No call waits for it, and readers get what it does not write when the step ends.
 */
export class LiveLog {
  readonly #waiting = new Map<string, Piece>();
  #characters = 0;
  #clock: NodeJS.Timeout | null = null;
  #isWriting = false;
  #wroteAt = 0;

  readonly #writer: LiveWriter;

  constructor(private readonly store: Store) {
    this.#writer = new LiveWriter(store);
  }

  /** Returns a function that takes the text of one attempt of a call, piece by piece. */
  open(place: Place): (text: string) => void {
    let offset = 0;
    let rest = '';
    const name = `${place.callId}/${place.attempt}`;
    return (text) => {
      // Holds back half a surrogate pair, which cannot be encoded, until the other half arrives.
      const whole = rest + text;
      rest = /[\uD800-\uDBFF]$/.exec(whole)?.[0] ?? '';
      const piece = whole.slice(0, whole.length - rest.length);
      if (piece !== '') this.#add(name, { ...place, offset, text: piece });
      offset += piece.length;
    };
  }

  #add(name: string, piece: Piece): void {
    if (this.store.append === undefined || this.#characters > MOST_CHARACTERS) return;
    const before = this.#waiting.get(name);
    this.#waiting.set(name, before === undefined ? piece : { ...before, text: before.text + piece.text });
    this.#characters += piece.text.length;
    this.#writeSoon();
  }

  /** Schedules a write. The first piece after a pause is written at once, so that readers need not wait for it. */
  #writeSoon(): void {
    if (this.#isWriting) return;
    const isFull = this.#characters >= FLUSH_CHARACTERS;
    const waitMs = Math.max(0, this.#wroteAt + FLUSH_MS - performance.now());
    if (isFull) void this.#write();
    else this.#clock ??= setTimeout(() => void this.#write(), waitMs).unref();
  }

  async #write(): Promise<void> {
    if (this.#clock !== null) clearTimeout(this.#clock);
    this.#clock = null;
    const pieces = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#characters = 0;
    this.#isWriting = true;
    // A failed write only costs readers this piece until the step ends.
    await this.#writer.write(pieces).catch(() => undefined);
    this.#isWriting = false;
    this.#wroteAt = performance.now();
    if (this.#waiting.size > 0) this.#writeSoon();
  }
}
