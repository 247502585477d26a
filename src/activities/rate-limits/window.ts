/** Limits on the calls of one model; Infinity: none. `concurrency` counts the calls under way. */
export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrency: number;
}

/** A request that was counted: when, to half a second, and with how many tokens. */
export interface Reservation {
  readonly at: number;
  readonly tokens: number;
  /** By the clock of its process, which never goes back. */
  readonly takenAt: number;
}

/** Whether a request might reach its provider too late for its margin. */
export function isStale({ takenAt }: Reservation): boolean {
  return performance.now() - takenAt > MARGIN_MS / 2;
}

/** Why a request was turned away, and in how many milliseconds to come again. */
export interface RateRefusal {
  readonly reason: 'rate' | 'concurrency' | 'circuit';
  readonly waitMs: number;
}

export const MINUTE_MS = 60_000;
/** Requests are counted by half seconds, so that a window stays small however many there are. */
const SLOT_MS = 500;
/** How long after its reservation a request may reach its provider, whose own 60 seconds begin there. */
export const MARGIN_MS = 1_000;
/** How long a silent process keeps its places: longer than a store or an event loop stalls. */
export const LEASE_MS = 30_000;

interface Content {
  readonly sent: { at: number; requests: number; tokens: number }[];
  readonly processes: Record<string, { calls: number; readonly until: number }>;
}

/**
 * The requests to one model within the last minute, and the calls under way: a value that the processes of a store hand
 * to one another, as one of them sees and changes it. The caller says what time it is, in milliseconds.
 *
 * 1. No 60 seconds hold more requests than the rate, however long after its reservation, up to `MARGIN_MS`, each arrives.
 *    A sliding window and no bucket: a full bucket lets through twice its rate within its first minute, and vendors count.
 * 2. A request reserves all the tokens that it may come to, and settles for those it used: no 60 seconds hold more.
 * 3. A clock that is set back makes everything wait for a minute at most; one that is set forward is believed.
 */
export class RateWindow {
  begun = 0;
  /** False where a request was turned away: nobody else needs to know. */
  isChanged = true;
  private readonly sent: Content['sent'];
  private readonly processes: Content['processes'] = {};
  private readonly own: Content['processes'][string];

  /** @param own the process that looks, and its calls under way */
  constructor(
    text: string | null,
    private readonly now: number,
    own: { readonly process: string; readonly calls: number },
  ) {
    const { sent, processes } = JSON.parse(text ?? '{"sent":[],"processes":{}}') as Content;
    const latest = now + LEASE_MS;
    this.sent = sent.filter(({ at }) => endOf(at) > now);
    for (const slot of this.sent) slot.at = Math.min(slot.at, slotOf(now));
    for (const [name, { calls, until }] of Object.entries(processes)) {
      if (until > now) this.processes[name] = { calls, until: Math.min(until, latest) };
    }
    this.own = { calls: own.calls, until: latest };
    this.processes[own.process] = this.own;
  }

  toString(): string {
    return JSON.stringify({ sent: this.sent, processes: this.processes } satisfies Content);
  }

  /** Counts a request where there is room. One that is larger than a whole minute may hold goes when the minute is empty. */
  reserve(tokens: number, limits: RateLimits): Reservation | RateRefusal {
    const calls = Object.values(this.processes).reduce((sum, process) => sum + process.calls, 0);
    const isBusy = calls >= limits.concurrency;
    // Nobody knows when a call will end.
    const waitMs = isBusy ? 0 : this.waitFor(tokens, limits);
    this.isChanged = !isBusy && waitMs === 0;
    if (!this.isChanged) return { reason: isBusy ? 'concurrency' : 'rate', waitMs };
    this.begun += 1;
    this.own.calls += 1;
    return this.take(tokens);
  }

  /** Counts a request anew that is only sent now; null where it is past, so that others may have its room. */
  move({ at, tokens }: Reservation): Reservation | null {
    const slot = this.slotAt(at);
    if (slot === undefined) return null;
    slot.requests -= 1;
    slot.tokens -= tokens;
    return this.take(tokens);
  }

  /** Counts the tokens that a request used, for as long as it is counted. */
  settle({ at, tokens }: Reservation, used: number): void {
    const slot = this.slotAt(at);
    if (slot !== undefined) slot.tokens += used - tokens;
  }

  /** Milliseconds until so many tokens fit; 0: now. */
  private waitFor(tokens: number, { requestsPerMinute, tokensPerMinute }: RateLimits): number {
    let requestsOver = this.sent.reduce((sum, { requests }) => sum + requests, 1) - requestsPerMinute;
    let tokensOver = this.sent.reduce((sum, slot) => sum + slot.tokens, tokens) - tokensPerMinute;
    let waitMs = 0;
    for (const slot of this.sent) {
      if (requestsOver <= 0 && tokensOver <= 0) break;
      waitMs = endOf(slot.at) - this.now;
      requestsOver -= slot.requests;
      tokensOver -= slot.tokens;
    }
    return waitMs;
  }

  private take(tokens: number): Reservation {
    const at = slotOf(this.now);
    const slot = this.slotAt(at);
    if (slot === undefined) this.sent.push({ at, requests: 1, tokens });
    else [slot.requests, slot.tokens] = [slot.requests + 1, slot.tokens + tokens];
    return { at, tokens, takenAt: performance.now() };
  }

  private slotAt(at: number): Content['sent'][number] | undefined {
    return this.sent.find((slot) => slot.at === at);
  }
}

function slotOf(time: number): number {
  return Math.floor(time / SLOT_MS) * SLOT_MS;
}

/** When a slot is no longer within 60 seconds of anything. */
function endOf(slot: number): number {
  return slot + SLOT_MS + MARGIN_MS + MINUTE_MS;
}
