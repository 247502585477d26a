import { Bell } from '../../runtime/turns';

/** Events of one source for all its readers in this process: it is read once, and each reader gets all of it. */
export class Replay<Event> {
  private readonly events: Event[] = [];
  private readonly bell = new Bell();
  private end: { readonly error: unknown } | 'over' | null = null;
  private characters = 0;

  constructor(
    source: AsyncIterable<Event>,
    private readonly lengthOf: (event: Event) => number,
  ) {
    void this.take(source);
  }

  /** Number of characters that are kept. */
  get length(): number {
    return this.characters;
  }

  /** Yields all events from the first, until the last or until the signal is aborted. */
  async *read(signal: AbortSignal): AsyncGenerator<Event> {
    for (let index = 0; !signal.aborted;) {
      const event = this.events[index];
      if (event !== undefined) {
        index += 1;
        yield event;
      } else if (this.end === null) {
        await this.bell.rung(signal);
      } else {
        if (this.end !== 'over') throw this.end.error;
        return;
      }
    }
  }

  private async take(source: AsyncIterable<Event>): Promise<void> {
    try {
      for await (const event of source) {
        this.events.push(event);
        this.characters += this.lengthOf(event);
        this.bell.ring();
      }
      this.end = 'over';
    } catch (error) {
      this.end = { error };
    }
    this.bell.ring();
  }
}
