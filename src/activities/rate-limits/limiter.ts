import { Circuit, type CircuitSettings } from './circuit';

/** What calls of one model are held to; Infinity: not at all. */
export interface RateLimiterSettings extends Rate {
  /** Requests at a time. */
  readonly concurrency: number;
  /** null: it is asked however often it fails. */
  readonly circuit: CircuitSettings | null;
}

/** What a rate limiter cannot know by itself. */
export interface Surroundings {
  /** Milliseconds, never going back. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Who is turned away, why, and in how many milliseconds to come again. */
export interface RateRefusal {
  readonly admitted: false;
  readonly reason: 'rate' | 'concurrency' | 'circuit';
  readonly waitMs: number;
}

/** What a call tells when it is over. */
export interface Report {
  /** Tokens in and out as the provider counted them; null where it did not, and the estimate stands. */
  readonly tokens: number | null;
  /** Whether the model is in order, as far as this call can tell. */
  readonly health: 'good' | 'bad' | 'unknown';
}

/** Somebody who was let through, and must leave again. */
export interface Permit {
  readonly admitted: true;
  release(report: Report): void;
}

/** While it is unknown how long this model takes. */
const GUESSED_CALL_MS = 1_000;
/** Those who wait for another call's end ask neither all the time nor too seldom. */
const SHORTEST_MS = 100;
const LONGEST_MS = 30_000;
/** Those who wait for a circuit come within this part of a pause after its end: the probe goes first, most come later. */
const CIRCUIT_SPREAD = 1 / 4;

/**
 * Stands before one model in one process. No request waits at it: one that cannot pass learns when to come again, each at
 * another time, at the pace at which there will be room. So no activity slot is held, and no timer runs.
 */
export class RateLimiter {
  private readonly minute: Minute;
  private readonly circuit: Circuit | null;
  private inside = 0;
  private lastCallMs = GUESSED_CALL_MS;
  /** When those who were turned away come again. */
  private expected: number[] = [];

  constructor(
    readonly settings: RateLimiterSettings,
    private readonly surroundings: Surroundings,
  ) {
    this.minute = new Minute(settings);
    this.circuit = settings.circuit === null ? null : new Circuit(settings.circuit);
  }

  /** @param tokens how many the request will take, in and out, as far as one can tell */
  acquire(tokens: number): Permit | RateRefusal {
    const now = this.surroundings.now();
    return this.refusal(tokens, now) ?? this.admit(tokens, now);
  }

  private refusal(tokens: number, now: number): RateRefusal | null {
    const { circuit, random } = { ...this.settings, ...this.surroundings };
    const pause = this.circuit?.waitAt(now) ?? 0;
    if (pause > 0) {
      const spread = (circuit?.pauseMs ?? 0) * CIRCUIT_SPREAD;
      return { admitted: false, reason: 'circuit', waitMs: pause + random() * spread };
    }
    if (this.inside >= this.settings.concurrency) {
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
    return {
      admitted: true,
      release: (report) => {
        this.leave(request, isProbe, report);
      },
    };
  }

  private leave(request: Sent, isProbe: boolean, { tokens, health }: Report): void {
    const now = this.surroundings.now();
    this.inside -= 1;
    this.lastCallMs = now - request.at;
    if (tokens !== null) request.tokens = tokens;
    if (health === 'good') this.circuit?.answered();
    if (health === 'bad') this.circuit?.failed(now, isProbe);
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

  /** How often a call ends, where only so many are made at a time. */
  private callMs(): number {
    return this.lastCallMs / this.settings.concurrency;
  }
}

/** How much may be sent within any 60 seconds; Infinity: as much as one likes. */
export interface Rate {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
}

/** A request as a minute remembers it. Its tokens are an estimate until its reply tells them. */
export interface Sent {
  /** Milliseconds on the caller's clock. */
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
   * Milliseconds until a request of so many tokens fits; 0: it does now. One that is larger than a whole minute may hold
   * would wait for ever, so it goes when the minute is empty.
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

  /** Takes a request's place; the caller may correct its tokens. */
  take(tokens: number, now: number): Sent {
    const request = { at: now, tokens };
    this.sent.push(request);
    return request;
  }
}
