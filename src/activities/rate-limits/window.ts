import type { SharedState } from '../../store/store';

/** Limits on the calls of one model; Infinity means none. `concurrency` limits the running calls. */
export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrency: number;
}

/** A counted request: its half-second slot and its tokens. */
export interface SlotReservation {
  readonly at: number;
  readonly tokens: number;
  /** Time by the monotonic clock of its process, at or before the time of its slot. */
  readonly takenAt: number;
}

/** Returns whether a request could reach its provider after its margin. */
export function isStale({ takenAt }: SlotReservation): boolean {
  return performance.now() - takenAt > MARGIN_MS / 2;
}

/** Reason why a request was refused, and the milliseconds until it should retry. */
export interface RateRefusal {
  readonly reason: 'rate' | 'concurrency' | 'circuit';
  readonly waitMs: number;
}

export const MINUTE_MS = 60_000;
/** Requests are counted in half-second slots, so that a window stays small however many there are. */
const SLOT_MS = 500;
/** Longest time from a reservation to the arrival at the provider, whose own 60 seconds begin then. */
export const MARGIN_MS = 1_000;
/** Time for which a silent process keeps its slots; longer than a store or an event loop stalls. */
export const LEASE_MS = 30_000;

/** Reading of a clock, and the time that the window must have reached by now for another reason. */
export interface Reading extends Pick<SharedState, 'now' | 'clock'> {
  readonly atLeast: number;
}

interface WrittenWindow {
  /** Time of the window when it was written; absent in what earlier versions wrote. */
  readonly time?: number;
  /** Reading of a clock at that time. */
  readonly read?: Pick<SharedState, 'now' | 'clock'>;
  readonly sent: { at: number; requests: number; tokens: number }[];
  readonly processes: Record<string, { calls: number; readonly until: number }>;
}

/**
 * The requests to one model within the last minute, and the running calls, as read from a value that the processes of
 * a store share and replace in turn.
 *
 * The window has a time of its own, which never runs faster than real time, whatever the clocks of its users say: it
 * advances by what passed since it was written, as far as that is known. A clock of the same name as the writer's
 * tells; so does a process that saw what was written before. Without either, no time has passed.
 *
 * 1. No 60 seconds contain more requests than the rate, even if each arrives up to `MARGIN_MS` after its reservation.
 *    No token bucket is used: a full one lets through twice its rate in its first minute, and vendors count that.
 * 2. A request reserves the most tokens that it may use, and settles for those it used: no 60 seconds contain more.
 * 3. If nothing tells how much time has passed, everything waits for at most a minute. A database's own clock is
 *    trusted if it is set forward.
 */
export class RateWindow {
  begun = 0;
  /** Time of the window. */
  readonly now: number;
  /** False if a request was refused, so that nothing needs to be written. */
  isChanged = true;
  private readonly sent: WrittenWindow['sent'];
  private readonly processes: WrittenWindow['processes'] = {};
  private readonly own: WrittenWindow['processes'][string];
  private readonly read: WrittenWindow['read'];
  private readonly askedAt: number;

  /** @param own this process, its running calls, and when it began to read the clock, by its monotonic one */
  constructor(
    text: string | null,
    { now, clock, atLeast }: Reading,
    own: { readonly process: string; readonly calls: number; readonly askedAt: number },
  ) {
    const content = JSON.parse(text ?? '{"sent":[],"processes":{}}') as WrittenWindow;
    const { sent, processes, read, time = Math.max(...sent.map(({ at }) => at)) } = content;
    const passed = read?.clock === clock ? Math.max(0, now - read.now) : 0;
    this.now = Math.max(time === -Infinity ? now : time + passed, atLeast);
    this.read = { now, clock };
    this.askedAt = own.askedAt;
    this.sent = sent.filter(({ at }) => endOf(at) > this.now);
    for (const [name, process] of Object.entries(processes)) {
      if (process.until > this.now) this.processes[name] = process;
    }
    this.own = { calls: own.calls, until: this.now + LEASE_MS };
    this.processes[own.process] = this.own;
  }

  toString(): string {
    const { now: time, read, sent, processes } = this;
    return JSON.stringify({ time, read, sent, processes } satisfies WrittenWindow);
  }

  /** Counts a request if there is room. One over the limit of a whole minute passes when the minute is empty. */
  reserve(tokens: number, limits: RateLimits): SlotReservation | RateRefusal {
    const calls = Object.values(this.processes).reduce((sum, process) => sum + process.calls, 0);
    const isBusy = calls >= limits.concurrency;
    // The end of a running call cannot be predicted.
    const waitMs = isBusy ? 0 : this.waitFor(tokens, limits);
    this.isChanged = !isBusy && waitMs === 0;
    if (!this.isChanged) return { reason: isBusy ? 'concurrency' : 'rate', waitMs };
    this.begun += 1;
    this.own.calls += 1;
    return this.take(tokens);
  }

  /**
   * Moves a reservation to the current time and `lateMs` more, for a request that is sent that late: to count it too
   * late only delays others. Returns null if it has expired, since others may have its room.
   */
  move({ at, tokens }: SlotReservation, lateMs: number): SlotReservation | null {
    const slot = this.slotAt(at);
    if (slot === undefined) return null;
    slot.requests -= 1;
    slot.tokens -= tokens;
    return this.take(tokens, lateMs);
  }

  /** Replaces the reserved tokens by those used, if the request is still counted. */
  settle({ at, tokens }: SlotReservation, used: number): void {
    const slot = this.slotAt(at);
    if (slot !== undefined) slot.tokens += used - tokens;
  }

  /** Returns the milliseconds until a request of so many tokens fits; 0 means now. */
  private waitFor(tokens: number, { requestsPerMinute, tokensPerMinute }: RateLimits): number {
    let requestsOver = this.sent.reduce((sum, { requests }) => sum + requests, 1) - requestsPerMinute;
    let tokensOver = this.sent.reduce((sum, slot) => sum + slot.tokens, tokens) - tokensPerMinute;
    let waitMs = 0;
    for (const slot of this.sent.toSorted((one, other) => one.at - other.at)) {
      if (requestsOver <= 0 && tokensOver <= 0) break;
      waitMs = endOf(slot.at) - this.now;
      requestsOver -= slot.requests;
      tokensOver -= slot.tokens;
    }
    return waitMs;
  }

  private take(tokens: number, lateMs = 0): SlotReservation {
    const at = slotOf(this.now + lateMs);
    const slot = this.slotAt(at);
    if (slot === undefined) this.sent.push({ at, requests: 1, tokens });
    else [slot.requests, slot.tokens] = [slot.requests + 1, slot.tokens + tokens];
    return { at, tokens, takenAt: this.askedAt + lateMs };
  }

  private slotAt(at: number): WrittenWindow['sent'][number] | undefined {
    return this.sent.find((slot) => slot.at === at);
  }
}

function slotOf(time: number): number {
  return Math.floor(time / SLOT_MS) * SLOT_MS;
}

/** Returns when a slot stops counting towards any 60 seconds. */
function endOf(slot: number): number {
  return slot + SLOT_MS + MARGIN_MS + MINUTE_MS;
}
