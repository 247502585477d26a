/** How much may be sent within any 60 seconds; Infinity: no limit. */
export interface Rate {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
}

/** A request that was counted: when, to half a second, and with how many tokens. */
export interface Booking {
  readonly at: number;
  readonly tokens: number;
}

export const MINUTE_MS = 60_000;

/** Requests are counted by half seconds, so that a window is small however many there are. */
const SLOT_MS = 500;

/** How long after its booking a request may reach its provider, whose own 60 seconds begin there. */
export const MARGIN_MS = 1_000;

/** How long a process that says nothing keeps its places: longer than a store or an event loop stalls. */
export const LEASE_MS = 30_000;

/** What an answer is expected to have beyond the mean, in mean deviations: nine in ten have less. */
const DEVIATIONS = 2;

interface Sent {
  requests: number;
  tokens: number;
}

interface Process {
  readonly calls: number;
  readonly until: number;
}

interface Outputs {
  readonly mean: number;
  readonly deviation: number;
}

interface Content {
  readonly sent: readonly (readonly [at: number, requests: number, tokens: number])[];
  readonly processes: Readonly<Record<string, Process>>;
  readonly outputs: Readonly<Record<string, Outputs>>;
}

/**
 * What was sent to one model within the last minute, who is sending, and how long its answers are: a value that the
 * processes of a store hand to one another. The caller says what time it is, in milliseconds.
 *
 * 1. No 60 seconds hold more requests than the rate, however long after its booking, up to `MARGIN_MS`, each arrives. A
 *    sliding window and no bucket: a full bucket lets through twice its rate within its first minute, and vendors count.
 * 2. No request is let through while the tokens of those 60 seconds, as far as they are known, leave it no room. So they
 *    hold more than the rate by no more than what the estimates of their answers were too low.
 * 3. A clock that is set back makes everything wait for a minute at most; one that is set forward is believed.
 */
export class RateWindow {
  private readonly sent = new Map<number, Sent>();
  private readonly processes = new Map<string, Process>();
  private readonly outputs: Map<string, Outputs>;

  private constructor(
    content: Content,
    private readonly now: number,
  ) {
    for (const [at, requests, tokens] of content.sent) {
      if (endOf(at) > now) this.add(Math.min(at, slotOf(now)), requests, tokens);
    }
    for (const [name, { calls, until }] of Object.entries(content.processes)) {
      if (until > now) this.processes.set(name, { calls, until: Math.min(until, now + LEASE_MS) });
    }
    this.outputs = new Map(Object.entries(content.outputs));
  }

  /** @param text what `toString` made of an earlier one; null: there was none */
  static read(text: string | null, now: number): RateWindow {
    const nothing: Content = { sent: [], processes: {}, outputs: {} };
    return new RateWindow(text === null ? nothing : (JSON.parse(text) as Content), now);
  }

  toString(): string {
    const content: Content = {
      sent: [...this.sent].map(([at, { requests, tokens }]) => [at, requests, tokens] as const),
      processes: Object.fromEntries(this.processes),
      outputs: Object.fromEntries(this.outputs),
    };
    return JSON.stringify(content);
  }

  /**
   * Milliseconds until a request of so many tokens fits; 0: now. One that is larger than a whole minute may hold would
   * wait for ever, so it goes when the minute is empty.
   */
  waitFor(tokens: number, rate: Rate): number {
    const slots = [...this.sent].sort(([a], [b]) => a - b);
    let requestsOver = slots.reduce((sum, [, { requests }]) => sum + requests, 1) - rate.requestsPerMinute;
    let tokensOver = slots.reduce((sum, [, slot]) => sum + slot.tokens, tokens) - rate.tokensPerMinute;
    let wait = 0;
    for (const [at, slot] of slots) {
      if (requestsOver <= 0 && tokensOver <= 0) break;
      wait = endOf(at) - this.now;
      requestsOver -= slot.requests;
      tokensOver -= slot.tokens;
    }
    return wait;
  }

  take(tokens: number): Booking {
    const booking = { at: slotOf(this.now), tokens };
    this.add(booking.at, 1, tokens);
    return booking;
  }

  /** Books a request anew that is only sent now; null where it is no longer counted, so that others may have its room. */
  move({ at, tokens }: Booking): Booking | null {
    if (!this.sent.has(at)) return null;
    this.add(at, -1, -tokens);
    return this.take(tokens);
  }

  /** Counts what a request really had, for as long as it is counted. */
  correct({ at, tokens }: Booking, counted: number): void {
    if (this.sent.has(at)) this.add(at, 0, counted - tokens);
  }

  /** How many calls are under way, of all processes. */
  get calls(): number {
    return [...this.processes.values()].reduce((sum, { calls }) => sum + calls, 0);
  }

  /** How many processes were heard of lately. */
  get senders(): number {
    return this.processes.size;
  }

  /** A process tells how many calls it has under way, and is believed for a while. */
  hold(process: string, calls: number): void {
    this.processes.set(process, { calls, until: this.now + LEASE_MS });
  }

  /** How many tokens an answer of a worker will have, by those it had: a mean and a margin, as TCP expects its replies. */
  expectedOutput(worker: string, most: number): number {
    const known = this.outputs.get(worker);
    return known === undefined ? most : Math.min(most, Math.ceil(known.mean + DEVIATIONS * known.deviation));
  }

  learn(worker: string, output: number): void {
    const known = this.outputs.get(worker);
    if (known === undefined) this.outputs.set(worker, { mean: output, deviation: output / 2 });
    else {
      const mean = known.mean + (output - known.mean) / 8;
      const deviation = known.deviation + (Math.abs(output - known.mean) - known.deviation) / 4;
      this.outputs.set(worker, { mean, deviation });
    }
  }

  private add(at: number, requests: number, tokens: number): void {
    const slot = this.sent.get(at) ?? { requests: 0, tokens: 0 };
    this.sent.set(at, { requests: slot.requests + requests, tokens: slot.tokens + tokens });
  }
}

function slotOf(time: number): number {
  return Math.floor(time / SLOT_MS) * SLOT_MS;
}

/** When what was sent in a slot is no longer within 60 seconds of anything. */
function endOf(slot: number): number {
  return slot + SLOT_MS + MARGIN_MS + MINUTE_MS;
}
