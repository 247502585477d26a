import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../reason-of';
import type { SharedStates } from '../../store/store';
import { Circuit, type CircuitSettings } from './circuit';
import {
  LEASE_MS,
  MARGIN_MS,
  MINUTE_MS,
  type NoRoom,
  type RateLimits,
  type Reservation,
  RateWindow,
} from './window';

export interface RateLimiterSettings extends RateLimits {
  readonly circuit: CircuitSettings;
}

/** Where the calls of a model are counted: under its name, for each process. */
export interface Counting {
  readonly states: SharedStates;
  readonly name: string;
  readonly process: string;
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
  readonly reason: 'rate' | 'concurrency' | 'circuit';
  readonly waitMs: number;
}

/** Facts that a finished call shows of its model. */
export interface Report {
  /** In and out; null where the provider did not count, and the reservation stands. */
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

interface Batch {
  readonly works: ((window: RateWindow) => unknown)[];
  readonly values: Promise<readonly unknown[]>;
}

/** While it is unknown how long this model takes. */
const GUESSED_CALL_MS = 1_000;
/** Between looks for the end of a call. */
const [SHORTEST_MS, LONGEST_MS] = [100, 30_000];
/** Calls that wait for a circuit come within this part of a pause after its end: first the probe, then the rest. */
const CIRCUIT_SPREAD = 1 / 4;
/** A request that was counted so long ago might reach its provider too late for its margin. */
const STALE_MS = MARGIN_MS / 2;
/** A store that is that slow each time does not become quicker. */
const CONFIRMATIONS = 3;

/**
 * Limits the calls of one model. No request waits in it: one that cannot pass is told when to come again, each at
 * another time, at the pace at which there will be room. So no activity slot is held, and no timer runs for it.
 *
 * Rates and concurrency are counted beside other processes where the states are those of a database; each process leaves a
 * failing model alone by itself. Requests that come at once are counted together, in one read and one write.
 */
export class RateLimiter {
  private readonly circuit: Circuit;
  private lastCallMs = GUESSED_CALL_MS;
  /** When those who were turned away come again. */
  private expected: number[] = [];
  /** Calls under way. */
  private held = 0;
  /** Calls that are over, until the store has it. */
  private unsettled: (Reservation & { readonly used: number })[] = [];
  private batch: Batch | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private renewal: NodeJS.Timeout | undefined;

  constructor(
    readonly settings: RateLimiterSettings,
    private readonly counting: Counting,
    private readonly surroundings: Surroundings,
  ) {
    this.circuit = new Circuit(settings.circuit);
  }

  /**
   * @param tokens all that the request may come to
   * @throws what the store throws in which the calls are counted: nothing is known then, and nothing may be sent
   */
  async acquire(tokens: number): Promise<Permit | RateRefusal> {
    const paused = this.pause();
    if (paused !== null) return paused;
    const { requestsPerMinute, tokensPerMinute, concurrency } = this.settings;
    const isLimited = Math.min(requestsPerMinute, tokensPerMinute, concurrency) < Infinity;
    const asked = this.surroundings.now();
    const found = isLimited ? await this.change((window) => window.reserve(tokens, this.settings)) : null;
    if (found !== null && 'reason' in found) return this.comeAgain(found, tokens);
    // Others may have begun to probe meanwhile.
    const late = this.pause();
    if (late === null) return this.admit(found, asked);
    if (found !== null) this.leave(found, 0);
    return late;
  }

  private pause(): RateRefusal | null {
    const pauseMs = this.circuit.waitAt(this.surroundings.now());
    if (pauseMs === 0) return null;
    const spread = this.settings.circuit.pauseMs * CIRCUIT_SPREAD;
    return { reason: 'circuit', waitMs: pauseMs + this.surroundings.random() * spread };
  }

  private admit(reserved: Reservation | null, asked: number): Permit {
    const { now } = this.surroundings;
    let [reservation, since] = [reserved, asked];
    const start = now();
    const isProbe = this.circuit.pass(start);
    return {
      confirm: async () => {
        for (let tries = 0; tries < CONFIRMATIONS && now() - since > STALE_MS; tries += 1) {
          const was = reservation;
          if (was === null) return null;
          since = now();
          const moved = await this.change((window) => window.move(was)).catch(reasonOf);
          if (typeof moved === 'string') return moved;
          if (moved === null)
            return 'its room in the rate went to others while this process, or its store, stood still';
          reservation = moved;
        }
        return null;
      },
      release: ({ tokens, health }) => {
        const end = now();
        this.lastCallMs = end - start;
        if (reservation !== null) this.leave(reservation, tokens ?? reservation.tokens);
        if (health === 'good') this.circuit.answered();
        if (health === 'bad') this.circuit.failed(end, isProbe);
      },
    };
  }

  private leave(reservation: Reservation, used: number): void {
    this.held -= 1;
    if (this.settings.tokensPerMinute === Infinity && this.settings.concurrency === Infinity) return;
    this.unsettled.push({ ...reservation, used });
    this.tellOthers();
  }

  /** Where that fails, the next change brings it. */
  private tellOthers(): void {
    this.change((window) => (window.isChanged = true)).catch(() => undefined);
  }

  /** The next room, and a time after it in which those turned away before, here and elsewhere, will have had theirs. */
  private comeAgain({ reason, waitMs: roomMs, senders }: NoRoom, tokens: number): RateRefusal {
    const now = this.surroundings.now();
    const { requestsPerMinute, tokensPerMinute, concurrency } = this.settings;
    this.expected = this.expected.filter((due) => due > now);
    const callMs = this.lastCallMs / concurrency;
    const room = reason === 'rate' ? roomMs : Math.min(Math.max(callMs, SHORTEST_MS), LONGEST_MS);
    const each = Math.max(MINUTE_MS / requestsPerMinute, (MINUTE_MS * tokens) / tokensPerMinute, callMs);
    const waitMs = room + this.surroundings.random() * this.expected.length * each * senders;
    this.expected.push(now + waitMs);
    return { reason, waitMs };
  }

  private change<T>(work: (window: RateWindow) => T): Promise<T> {
    const { works, values } = (this.batch ??= this.openBatch());
    const index = works.push(work) - 1;
    return values.then((all) => all[index] as T);
  }

  private openBatch(): Batch {
    const works: Batch['works'] = [];
    const values = this.last.then(() => {
      this.batch = undefined;
      return this.commit(works);
    });
    this.last = values.catch(() => undefined);
    return { works, values };
  }

  private async commit(works: Batch['works']): Promise<readonly unknown[]> {
    const { states, name, process } = this.counting;
    for (let conflicts = 0; ; conflicts += 1) {
      const { text, version, now } = await states.read(name);
      const window = new RateWindow(text, now, { process, calls: this.held });
      const settled = [...this.unsettled];
      for (const call of settled) window.settle(call, call.used);
      const values = works.map((work) => work(window));
      if (!window.isChanged || (await states.swap(name, window.toString(), version))) {
        this.held += window.begun;
        this.unsettled = this.unsettled.filter((call) => !settled.includes(call));
        this.renew();
        return values;
      }
      await pause(Math.random() * 10 * conflicts);
    }
  }

  /** While calls are under way, others are told that this process lives. */
  private renew(): void {
    if (this.settings.concurrency === Infinity || this.held === 0 || this.renewal !== undefined) return;
    this.renewal = setInterval(() => {
      if (this.held > 0) this.tellOthers();
      else {
        clearInterval(this.renewal);
        this.renewal = undefined;
      }
    }, LEASE_MS / 3).unref();
  }
}
