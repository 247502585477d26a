import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../errors';
import type { SharedStates } from '../../store/store';
import { Turns } from '../../runtime/turns';
import type { Health } from '../models/diagnose';
import {
  isStale,
  LEASE_MS,
  MINUTE_MS,
  type RateLimits,
  type RateRefusal,
  type SlotReservation,
  RateWindow,
} from './window';

export interface RateLimiterSettings extends RateLimits {
  /** Failures in a row that open a model's circuit. */
  readonly failures: number;
  /** First pause of an open circuit. */
  readonly pauseMs: number;
}

export interface RequestReport {
  readonly tokens: number | null;
  readonly health: Health;
}

/** Permission for one request, to be released when the request ends. */
export interface Permit {
  /** Called right before the request is sent; renews a stale reservation. Returns why it may not be sent, or null. */
  confirm(): Promise<string | null>;
  release(report: RequestReport): void;
}

/** Assumed duration of a call until one has been measured. */
const GUESSED_CALL_MS = 1_000;
const [SHORTEST_MS, LONGEST_MS] = [100, 30_000];
/** Share of a pause over which waiting calls are spread after its end: first the probe, then the rest. */
const CIRCUIT_SPREAD = 1 / 4;

/**
 * Limits the calls of one model. Requests do not queue: one that cannot pass is told when to retry, at the pace at
 * which room becomes free. Rates and concurrency are shared with other processes if the states are in a database;
 * each process has its own circuit breaker.
 */
export class RateLimiter {
  private readonly process = randomUUID();
  private readonly circuit: Circuit;
  private readonly turns = new Turns(1);
  private lastCallMs = GUESSED_CALL_MS;
  /** Times at which refused requests will retry. */
  private expected: number[] = [];
  private held = 0;
  /** Version and time of the shared window as this process last knew it, and when, by its monotonic clock. */
  private seen = { version: -1, time: 0, at: 0 };
  private renewal: NodeJS.Timeout | undefined;

  /** @param name under which all processes count this model */
  constructor(
    readonly settings: RateLimiterSettings,
    private readonly states: SharedStates,
    private readonly name: string,
  ) {
    this.circuit = new Circuit(settings);
  }

  /**
   * @param tokens most tokens that the request may use
   * @throws the error of the store that holds the counts; without them nothing may be sent
   */
  async acquire(tokens: number): Promise<Permit | RateRefusal> {
    const now = performance.now();
    const openMs = this.circuit.waitAt(now);
    const spreadMs = Math.random() * this.settings.pauseMs * CIRCUIT_SPREAD;
    if (openMs > 0) return { reason: 'circuit', waitMs: openMs + spreadMs };
    const isProbe = this.circuit.pass(now);
    const found = await this.change((window) => window.reserve(tokens, this.settings));
    return 'reason' in found ? this.comeAgain(found, tokens) : this.permit(found, isProbe);
  }

  private permit(first: SlotReservation, isProbe: boolean): Permit {
    const { requestsPerMinute, tokensPerMinute, concurrency } = this.settings;
    const hasRate = Math.min(requestsPerMinute, tokensPerMinute) < Infinity;
    let reservation = first;
    return {
      confirm: async () => {
        // A move takes time itself: the next one reckons with as much as the last one took.
        let lateMs = 0;
        while (hasRate && isStale(reservation)) {
          const begunAt = performance.now();
          const moved = await this.change((window) => window.move(reservation, lateMs)).catch(reasonOf);
          if (typeof moved === 'string') return moved;
          if (moved === null) {
            return 'its rate-limit reservation expired because this process or its store stalled';
          }
          reservation = moved;
          lateMs = performance.now() - begunAt;
        }
        return null;
      },
      release: ({ tokens, health }) => {
        const now = performance.now();
        this.lastCallMs = now - first.takenAt;
        this.held -= 1;
        if (tokensPerMinute < Infinity || concurrency < Infinity) {
          this.tellOthers((window) => {
            window.settle(reservation, tokens ?? reservation.tokens);
          });
        }
        if (health === 'good') this.circuit.answered();
        if (health === 'bad') this.circuit.failed(now, isProbe);
      },
    };
  }

  /** Updates the shared window. If that fails, too much stays counted, for at most a minute. */
  private tellOthers(work: (window: RateWindow) => void): void {
    this.change(work).catch(() => undefined);
  }

  /** Returns when there will be room, plus a random share of the time that requests refused earlier need. */
  private comeAgain({ reason, waitMs: roomMs }: RateRefusal, tokens: number): RateRefusal {
    const now = performance.now();
    const { requestsPerMinute, tokensPerMinute, concurrency } = this.settings;
    this.expected = this.expected.filter((due) => due > now);
    // Bounds the estimate, so that one long answer does not send all other callers away for long.
    const callMs = Math.min(this.lastCallMs / concurrency, LONGEST_MS);
    const room = reason === 'rate' ? roomMs : Math.max(callMs, SHORTEST_MS);
    const each = Math.max(MINUTE_MS / requestsPerMinute, (MINUTE_MS * tokens) / tokensPerMinute, callMs);
    const waitMs = room + Math.random() * this.expected.length * each;
    this.expected.push(now + waitMs);
    return { reason, waitMs };
  }

  /** Changes the window that all processes share; retries if another process changed it first. */
  private change<T>(work: (window: RateWindow) => T): Promise<T> {
    return this.turns.take(async () => {
      for (let conflicts = 0; ; conflicts += 1) {
        const askedAt = performance.now();
        const { text, version, ...reading } = await this.states.read(this.name);
        const own = { process: this.process, calls: this.held, askedAt };
        const window = new RateWindow(text, { ...reading, atLeast: this.timeAtLeast(version) }, own);
        const seen = { version, time: window.now, at: performance.now() };
        this.seen = seen;
        const value = work(window);
        if (!window.isChanged || (await this.states.swap(this.name, window.toString(), version))) {
          if (window.isChanged) this.seen = { ...seen, version: version + 1 };
          this.held += window.begun;
          this.renew();
          return value;
        }
        await pause(Math.random() * 10 * conflicts);
      }
    });
  }

  /** Returns the time that the window has reached since this process read the same version, whatever clocks say. */
  private timeAtLeast(version: number): number {
    const { time, at } = this.seen;
    return version === this.seen.version ? time + performance.now() - at : -Infinity;
  }

  /** Renews the lease of this process while it has running calls. */
  private renew(): void {
    if (this.held > 0 && this.settings.concurrency < Infinity) {
      this.renewal ??= setInterval(() => {
        this.tellOthers(() => undefined);
      }, LEASE_MS / 3).unref();
    } else {
      clearInterval(this.renewal);
      this.renewal = undefined;
    }
  }
}

/** Longest pause, unless a longer one is configured, so that a provider that recovers is soon called again. */
const LONGEST_PAUSE_MS = 10 * 60_000;

/**
 * A circuit breaker: closed while a model answers, open after too many failures in a row. After the pause one call
 * may probe: an answer closes the circuit, a failure reopens it for twice as long. If the probe shows neither or
 * never ends, another may follow after a first pause. The caller passes the current time in milliseconds.
 */
export class Circuit {
  private failures = 0;
  private open: { readonly until: number; readonly pauseMs: number } | null = null;

  constructor(private readonly settings: Pick<RateLimiterSettings, 'failures' | 'pauseMs'>) {}

  /** Returns the milliseconds until the model may be called; 0 means now. */
  waitAt(now: number): number {
    return this.open === null ? 0 : Math.max(0, this.open.until - now);
  }

  /** Records a call that `waitAt` allowed. Returns whether it is the probe. */
  pass(now: number): boolean {
    if (this.open !== null) this.open = { ...this.open, until: now + this.settings.pauseMs };
    return this.open !== null;
  }

  answered(): void {
    [this.failures, this.open] = [0, null];
  }

  failed(now: number, wasProbe: boolean): void {
    const { failures: most, pauseMs: first } = this.settings;
    this.failures += 1;
    if (this.open === null ? this.failures < most : !wasProbe) return;
    const pauseMs =
      this.open === null ? first : Math.min(this.open.pauseMs * 2, Math.max(LONGEST_PAUSE_MS, first));
    this.open = { until: now + pauseMs, pauseMs };
  }
}
