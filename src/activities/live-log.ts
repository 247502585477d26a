import { ThoughtReader } from '../plan/thoughts/read-thoughts';
import { type LiveText, LiveWriter } from '../store/stream-log';
import type { Store } from '../store/store';

const FLUSH_MS = 200;
const FLUSH_CHARACTERS = 1024;
/** Most text buffered while the store stalls; the rest is dropped, and readers get it when its step ends. */
const MOST_CHARACTERS = 1024 * 1024;

type TextSource = Omit<LiveText, 'offset' | 'text' | 'isThoughts'> & { readonly rootId: string };
type WaitingPiece = LiveText & { readonly rootId: string };

/**
 * Writes texts to the stream log of a store as they arrive, batched over all calls of a process, every 200 ms or 1,024
 * characters. An answer does not wait for it: readers get what it does not write when the step ends. A turn that asks for
 * tools does, since nobody is told its text later.
 */
export class LiveLog {
  private readonly waiting = new Map<string, WaitingPiece>();
  private characters = 0;
  private clock: NodeJS.Timeout | null = null;
  /** The write under way; null if there is none. */
  private writing: Promise<void> | null = null;
  private wroteAt = 0;

  /** Models whose replies were seen to begin with thoughts without an opening tag. */
  private readonly unopened = new Set<string>();
  private readonly writer: LiveWriter;

  constructor(private readonly store: Store) {
    this.writer = new LiveWriter(store);
  }

  /**
   * Returns a function that takes the reply of one attempt of a call, piece by piece.
   * @param model identifies the model and its server
   */
  open(place: TextSource, model: string): (text: string) => void {
    const reader = new ThoughtReader(this.unopened.has(model));
    let offset = 0;
    let rest = '';
    let [parts, last] = [0, ''];
    return (delta) => {
      for (const { kind, text, isAnew } of reader.push(delta)) {
        if (isAnew === true) remember(this.unopened, model);
        // Pieces of one kind are written as one.
        if (kind !== last) [parts, last, rest] = [parts + 1, kind, ''];
        // Holds back half a surrogate pair, which cannot be encoded, until the other half arrives.
        const whole = rest + text;
        rest = /[\uD800-\uDBFF]$/.exec(whole)?.[0] ?? '';
        const piece = whole.slice(0, whole.length - rest.length);
        const told = {
          ...place,
          offset,
          text: piece,
          ...(kind === 'thoughts' && { isThoughts: true as const }),
        };
        if (piece !== '') this.add(`${place.callId}/${place.attempt}/${parts}`, told);
        offset += piece.length;
      }
    };
  }

  private add(name: string, piece: WaitingPiece): void {
    if (this.store.append === undefined || this.characters > MOST_CHARACTERS) return;
    const before = this.waiting.get(name);
    this.waiting.set(name, before === undefined ? piece : { ...before, text: before.text + piece.text });
    this.characters += piece.text.length;
    this.writeSoon();
  }

  /** Schedules a write. The first piece after a pause is written at once, so that readers need not wait for it. */
  private writeSoon(): void {
    if (this.writing !== null) return;
    const isFull = this.characters >= FLUSH_CHARACTERS;
    const waitMs = Math.max(0, this.wroteAt + FLUSH_MS - performance.now());
    if (isFull) void this.write();
    else this.clock ??= setTimeout(() => void this.write(), waitMs).unref();
  }

  /** Writes all that waits, before readers are told of something that comes after it. */
  async flush(): Promise<void> {
    await this.writing;
    if (this.waiting.size > 0) await this.write();
  }

  private write(): Promise<void> {
    if (this.clock !== null) clearTimeout(this.clock);
    this.clock = null;
    const pieces = [...this.waiting.values()];
    this.waiting.clear();
    this.characters = 0;
    // A failed write only costs readers this piece until the step ends.
    const written = this.writer.write(pieces).catch(() => undefined);
    this.writing = written.then(() => {
      this.writing = null;
      this.wroteAt = performance.now();
      if (this.waiting.size > 0) this.writeSoon();
    });
    return this.writing;
  }
}

/** Models remembered. A forgotten one costs a restart of one live text. */
const MOST_MODELS = 1000;

function remember(models: Set<string>, model: string): void {
  if (models.size >= MOST_MODELS) models.clear();
  models.add(model);
}
