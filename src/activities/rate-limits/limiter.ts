import { Circuit, type CircuitSettings } from './circuit';
import {
  type CountedTokens,
  type Counting,
  type NoRoom,
  type Place,
  RateBook,
  type RateLimits,
  type RateRequest,
} from './rate-book';
import { MINUTE_MS } from './rate-window';

/** Limits on the calls of one model; Infinity: none. */
export interface RateLimiterSettings extends RateLimits {
  /** null: it is asked however often it fails. */
  readonly circuit: CircuitSettings | null;
}

/** Time and chance, which a test replaces. */
export interface Surroundings {
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
  /** null where the provider did not count, and the estimate stands. */
  readonly counted: CountedTokens | null;
  readonly health: 'good' | 'bad' | 'unknown';
}

/** Of a request that was let through, to be released when it is over. */
export interface Permit extends Pick<Place, 'confirm'> {
  readonly admitted: true;
  release(report: Report): void;
}

/** While it is unknown how long this model takes. */
const GUESSED_CALL_MS = 1_000;
const SHORTEST_MS = 100;
const LONGEST_MS = 30_000;
/** Calls that wait for a circuit come within this part of a pause after its end: first the probe, then the rest. */
const CIRCUIT_SPREAD = 1 / 4;

const UNCOUNTED: Place = { confirm: () => Promise.resolve(null), leave: () => undefined };

/**
 * Limits the calls of one model. No request waits in it: one that cannot pass is told when to come again, each at
 * another time, at the pace at which there will be room. So no activity slot is held, and no timer runs for it.
 *
 * Rates and places are counted where `Counting` says, for one process or for many; a failing model is left alone by
 * each process for itself.
 */
export class RateLimiter {
  private readonly book: RateBook | null;
  private readonly circuit: Circuit | null;
  private lastCallMs = GUESSED_CALL_MS;
  private expected: number[] = [];

  constructor(
    readonly settings: RateLimiterSettings,
    counting: Counting,
    private readonly surroundings: Surroundings,
  ) {
    const { requestsPerMinute, tokensPerMinute, concurrency, circuit } = settings;
    const isLimited = Math.min(requestsPerMinute, tokensPerMinute, concurrency) < Infinity;
    this.book = isLimited ? new RateBook(settings, counting, surroundings.now) : null;
    this.circuit = circuit === null ? null : new Circuit(circuit);
  }

  /** @throws what the store throws in which the calls are counted */
  async acquire(request: RateRequest): Promise<Permit | RateRefusal> {
    const pause = this.pause();
    if (pause !== null) return pause;
    const place = (await this.book?.enter(request)) ?? UNCOUNTED;
    if ('reason' in place) return { admitted: false, reason: place.reason, waitMs: this.comeAgain(place) };
    // Others may have begun to probe meanwhile.
    const late = this.pause();
    if (late === null) return this.admit(place);
    place.leave({ inputTokens: 0, outputTokens: 0 });
    return late;
  }

  private pause(): RateRefusal | null {
    const pause = this.circuit?.waitAt(this.surroundings.now()) ?? 0;
    if (pause <= 0) return null;
    const spread = (this.settings.circuit?.pauseMs ?? 0) * CIRCUIT_SPREAD;
    return { admitted: false, reason: 'circuit', waitMs: pause + this.surroundings.random() * spread };
  }

  private admit(place: Place): Permit {
    const start = this.surroundings.now();
    const isProbe = this.circuit?.pass(start) ?? false;
    const release = ({ counted, health }: Report): void => {
      const end = this.surroundings.now();
      this.lastCallMs = end - start;
      place.leave(counted);
      if (health === 'good') this.circuit?.answered();
      if (health === 'bad') this.circuit?.failed(end, isProbe);
    };
    return { admitted: true, confirm: () => place.confirm(), release };
  }

  /** The next room, and a time after it in which those turned away before, here and elsewhere, will have had theirs. */
  private comeAgain({ waitMs: roomMs, tokens, senders }: NoRoom): number {
    const now = this.surroundings.now();
    const { requestsPerMinute, tokensPerMinute, concurrency } = this.settings;
    this.expected = this.expected.filter((due) => due > now);
    const callMs = this.lastCallMs / concurrency;
    const room = roomMs ?? Math.min(Math.max(callMs, SHORTEST_MS), LONGEST_MS);
    const each = Math.max(MINUTE_MS / requestsPerMinute, (MINUTE_MS * tokens) / tokensPerMinute, callMs);
    const waitMs = room + this.surroundings.random() * this.expected.length * each * senders;
    this.expected.push(now + waitMs);
    return waitMs;
  }
}
