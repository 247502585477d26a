import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../errors';
import type { SharedStates } from '../../store/store';
import { Turns } from '../../turns';
import { Circuit, type CircuitSettings } from './circuit';
import {
  LEASE_MS,
  MARGIN_MS,
  MINUTE_MS,
  type RateLimits,
  type RateRefusal,
  type Reservation,
  RateWindow,
} from './window';

export type RateLimiterSettings = RateLimits & CircuitSettings;

/** Where the calls of a model are counted: under its name, for each process. */
export interface Counting {
  readonly states: SharedStates;
  readonly name: string;
  readonly process: string;
}

/** Time and chance, which a test replaces. `now` is in milliseconds and never goes back. */
export interface Surroundings {
  readonly now: () => number;
  readonly random: () => number;
}

/** Facts that a finished call shows of its model; `tokens` is null where the provider did not count. */
export interface Report {
  readonly tokens: number | null;
  readonly health: 'good' | 'bad' | 'unknown';
}

/** A request that was let through, to be released when it is over. */
export interface Permit {
  /**
   * Asked right before the request is sent: where much time has passed since it was counted, it is counted anew.
   *
   * @returns why it may not be sent after all; null: it may
   */
  confirm(): Promise<string | null>;
  release(report: Report): void;
}

/** While it is unknown how long this model takes. */
const GUESSED_CALL_MS = 1_000;
/** Between looks for the end of a call. */
const [SHORTEST_MS, LONGEST_MS] = [100, 30_000];
/** Calls that wait for a circuit come within this part of a pause after its end: first the probe, then the rest. */
const CIRCUIT_SPREAD = 1 / 4;
/** A request that was counted so long ago might reach its provider too late for its margin. */
const STALE_MS = MARGIN_MS / 2;

/**
 * Limits the calls of one model. No request waits in it: one that cannot pass is told when to come again, at the pace at
 * which there will be room. So no activity slot is held, and no timer runs for it.
 *
 * Rates and concurrency are counted beside other processes where the states are those of a database; each process leaves a
 * failing model alone by itself.
 */
export class RateLimiter {
  private readonly circuit: Circuit;
  private readonly turns = new Turns(1);
  private lastCallMs = GUESSED_CALL_MS;
  /** When those who were turned away come again. */
  private expected: number[] = [];
  /** Calls under way. */
  private held = 0;
  private renewal: NodeJS.Timeout | undefined;

  constructor(
    readonly settings: RateLimiterSettings,
    private readonly counting: Counting,
    private readonly surroundings: Surroundings,
  ) {
    this.circuit = new Circuit(settings);
  }

  /**
   * @param tokens all that the request may come to
   * @throws what the store throws in which the calls are counted: nothing is known then, and nothing may be sent
   */
  async acquire(tokens: number): Promise<Permit | RateRefusal> {
    const { now, random } = this.surroundings;
    const { requestsPerMinute, tokensPerMinute, concurrency, pauseMs } = this.settings;
    const openMs = this.circuit.waitAt(now());
    if (openMs > 0) return { reason: 'circuit', waitMs: openMs + random() * pauseMs * CIRCUIT_SPREAD };
    const isProbe = this.circuit.pass(now());
    let countedAt = now();
    if (Math.min(requestsPerMinute, tokensPerMinute, concurrency) === Infinity) {
      return this.permit(null, countedAt, isProbe);
    }
    const found = await this.change((window) => {
      countedAt = now();
      return window.reserve(tokens, this.settings);
    });
    return 'reason' in found ? this.comeAgain(found, tokens) : this.permit(found, countedAt, isProbe);
  }

  private permit(counted: Reservation | null, countedAt: number, isProbe: boolean): Permit {
    const { now } = this.surroundings;
    let reservation = counted;
    return {
      confirm: async () => {
        const was = reservation;
        if (was === null || now() - countedAt <= STALE_MS) return null;
        const moved = await this.change((window) => window.move(was)).catch(reasonOf);
        if (typeof moved === 'string') return moved;
        if (moved === null) {
          return 'its room in the rate went to others while this process, or its store, stood still';
        }
        reservation = moved;
        return null;
      },
      release: ({ tokens, health }) => {
        const end = now();
        this.lastCallMs = end - countedAt;
        if (reservation !== null) this.leave(reservation, tokens ?? reservation.tokens);
        if (health === 'good') this.circuit.answered();
        if (health === 'bad') this.circuit.failed(end, isProbe);
      },
    };
  }

  private leave(reservation: Reservation, used: number): void {
    this.held -= 1;
    if (this.settings.tokensPerMinute === Infinity && this.settings.concurrency === Infinity) return;
    this.tellOthers((window) => {
      window.settle(reservation, used);
    });
  }

  /** Where that fails, more is counted than there is, for a minute at most. */
  private tellOthers(work: (window: RateWindow) => void): void {
    this.change(work).catch(() => undefined);
  }

  /** The next room, and a time after it in which those turned away before will have had theirs. */
  private comeAgain({ reason, waitMs: roomMs }: RateRefusal, tokens: number): RateRefusal {
    const now = this.surroundings.now();
    const { requestsPerMinute, tokensPerMinute, concurrency } = this.settings;
    this.expected = this.expected.filter((due) => due > now);
    const callMs = this.lastCallMs / concurrency;
    const room = reason === 'rate' ? roomMs : Math.min(Math.max(callMs, SHORTEST_MS), LONGEST_MS);
    const each = Math.max(MINUTE_MS / requestsPerMinute, (MINUTE_MS * tokens) / tokensPerMinute, callMs);
    const waitMs = room + this.surroundings.random() * this.expected.length * each;
    this.expected.push(now + waitMs);
    return { reason, waitMs };
  }

  /** Changes the window that all processes share, and again where another one was quicker. */
  private change<T>(work: (window: RateWindow) => T): Promise<T> {
    const { states, name, process } = this.counting;
    return this.turns.take(async () => {
      for (let conflicts = 0; ; conflicts += 1) {
        const { text, version, now } = await states.read(name);
        const window = new RateWindow(text, now, { process, calls: this.held });
        const value = work(window);
        if (!window.isChanged || (await states.swap(name, window.toString(), version))) {
          this.held += window.begun;
          this.renew();
          return value;
        }
        await pause(Math.random() * 10 * conflicts);
      }
    });
  }

  /** While calls are under way, others are told that this process lives. */
  private renew(): void {
    if (this.settings.concurrency === Infinity || this.held === 0) return;
    this.renewal ??= setInterval(() => {
      if (this.held > 0) {
        this.tellOthers((window) => {
          window.isChanged = true;
        });
        return;
      }
      clearInterval(this.renewal);
      this.renewal = undefined;
    }, LEASE_MS / 3).unref();
  }
}
