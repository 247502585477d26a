import { Circuit, type CircuitSettings } from './circuit';

/** How much may be sent within any 60 seconds; Infinity: no limit. */
export interface Rate {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
}

/** Limits on the calls of one model; Infinity: none. */
export interface RateLimiterSettings extends Rate {
  readonly concurrency: number;
  /** null: it is asked however often it fails. */
  readonly circuit: CircuitSettings | null;
}

/** Time and chance, which a test replaces. */
interface Surroundings {
  /** Milliseconds, never going back. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Why a request was turned away, and in how many milliseconds to come again. */
export interface RateRefusal {
  readonly admitted: false;
  readonly reason: 'rate' | 'concurrency' | 'circuit';
  readonly waitMs: number;
}

/** What a finished call shows of its model. */
export interface Report {
  /** Tokens in and out as the provider counted them; null where it did not, and the estimate stands. */
  readonly tokens: number | null;
  readonly health: 'good' | 'bad' | 'unknown';
}

/** Of a request that was let through, to be released when it is over. */
export interface Permit {
  readonly admitted: true;
  release(report: Report): void;
}

/** While it is unknown how long this model takes. */
const GUESSED_CALL_MS = 1_000;
const SHORTEST_MS = 100;
const LONGEST_MS = 30_000;
/** Calls that wait for a circuit come within this part of a pause after its end: first the probe, then the rest. */
const CIRCUIT_SPREAD = 1 / 4;

/**
 * Limits the calls of one model in one process. No request waits in it: one that cannot pass is told when to come again,
 * each at another time, at the pace at which there will be room. So no activity slot is held, and no timer runs.
 */
export class RateLimiter {
  private readonly minute: Minute;
  private readonly circuit: Circuit | null;
  private inside = 0;
  private lastCallMs = GUESSED_CALL_MS;
  private expected: number[] = [];

  constructor(
    readonly settings: RateLimiterSettings,
    private readonly surroundings: Surroundings,
  ) {
    this.minute = new Minute(settings);
    this.circuit = settings.circuit === null ? null : new Circuit(settings.circuit);
  }

  /** @param tokens an estimate of what the request will take, in and out */
  acquire(tokens: number): Permit | RateRefusal {
    const now = this.surroundings.now();
    return this.refusal(tokens, now) ?? this.admit(tokens, now);
  }

  private refusal(tokens: number, now: number): RateRefusal | null {
    const { circuit, concurrency } = this.settings;
    const pause = this.circuit?.waitAt(now) ?? 0;
    if (pause > 0) {
      const spread = (circuit?.pauseMs ?? 0) * CIRCUIT_SPREAD;
      return { admitted: false, reason: 'circuit', waitMs: pause + this.surroundings.random() * spread };
    }
    if (this.inside >= concurrency) {
      const next = Math.min(Math.max(this.callMs(), SHORTEST_MS), LONGEST_MS);
      return { admitted: false, reason: 'concurrency', waitMs: this.comeAgain(next, tokens, now) };
    }
    const room = this.minute.waitFor(tokens, now);
    return room > 0 ? { admitted: false, reason: 'rate', waitMs: this.comeAgain(room, tokens, now) } : null;
  }

  private admit(tokens: number, now: number): Permit {
    const isProbe = this.circuit?.pass(now) ?? false;
    const request = this.minute.take(tokens, now);
    this.inside += 1;
    const release = ({ tokens: counted, health }: Report): void => {
      const end = this.surroundings.now();
      this.inside -= 1;
      this.lastCallMs = end - request.at;
      if (counted !== null) request.tokens = counted;
      if (health === 'good') this.circuit?.answered();
      if (health === 'bad') this.circuit?.failed(end, isProbe);
    };
    return { admitted: true, release };
  }

  /** The next room, and a time after it in which those turned away before will have had theirs. */
  private comeAgain(room: number, tokens: number, now: number): number {
    const { requestsPerMinute, tokensPerMinute } = this.settings;
    this.expected = this.expected.filter((due) => due > now);
    const each = Math.max(
      MINUTE_MS / requestsPerMinute,
      (MINUTE_MS * tokens) / tokensPerMinute,
      this.callMs(),
    );
    const waitMs = room + this.surroundings.random() * this.expected.length * each;
    this.expected.push(now + waitMs);
    return waitMs;
  }

  private callMs(): number {
    return this.lastCallMs / this.settings.concurrency;
  }
}

/** A request within the last minute. Its tokens are an estimate until its reply brings the count. */
interface Sent {
  readonly at: number;
  tokens: number;
}

export const MINUTE_MS = 60_000;

/**
 * What was sent within the last 60 seconds, and when more will fit.
 *
 * A sliding window and no bucket: a full bucket lets through twice its rate within its first minute, and vendors count.
 */
export class Minute {
  private sent: Sent[] = [];

  constructor(private readonly rate: Rate) {}

  /**
   * Milliseconds until a request of so many tokens fits; 0: now. One that is larger than a whole minute may hold would
   * wait for ever, so it goes when the minute is empty.
   */
  waitFor(tokens: number, now: number): number {
    this.sent = this.sent.filter(({ at }) => at + MINUTE_MS > now);
    let requestsOver = this.sent.length + 1 - this.rate.requestsPerMinute;
    let tokensOver =
      this.sent.reduce((sum, request) => sum + request.tokens, tokens) - this.rate.tokensPerMinute;
    let wait = 0;
    for (const request of this.sent) {
      if (requestsOver <= 0 && tokensOver <= 0) break;
      wait = request.at + MINUTE_MS - now;
      requestsOver -= 1;
      tokensOver -= request.tokens;
    }
    return wait;
  }

  take(tokens: number, now: number): Sent {
    const request = { at: now, tokens };
    this.sent.push(request);
    return request;
  }
}
