import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../reason-of';
import type { SharedStates } from '../../store/shared-states';
import { type Booking, LEASE_MS, MARGIN_MS, MINUTE_MS, type Rate, RateWindow } from './rate-window';

/** Limits on the calls of one model; Infinity: none. */
export interface RateLimits extends Rate {
  readonly concurrency: number;
}

/** Where the calls of a model are counted. */
export interface Counting {
  readonly states: SharedStates;
  /** Of the model, for all processes. */
  readonly name: string;
  /** Of the one who counts. */
  readonly process: string;
}

/** What is known of a request before it is sent. */
export interface RateRequest {
  /** Whose answers teach how long this one may become. */
  readonly worker: string;
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
}

/** Tokens as the provider counted them. */
export interface CountedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Why there is no room, and in how many milliseconds there may be. */
export interface NoRoom {
  readonly reason: 'rate' | 'concurrency';
  /** null for a place: nobody knows when a call will end. */
  readonly waitMs: number | null;
  readonly tokens: number;
  /** Processes that send, among which the next room is shared. */
  readonly senders: number;
}

/** A request that has been counted. */
export interface Place {
  /**
   * Asked right before it is sent: where much time has passed since it was counted, it is counted anew.
   *
   * @returns why it may not be sent after all; null: it may
   */
  confirm(): Promise<string | null>;
  /** @param counted null where nobody told, and the estimate stands */
  leave(counted: CountedTokens | null): void;
}

interface Change<T> {
  readonly value: T;
  /** The window is another one now. */
  readonly isNew: boolean;
  /** Calls that this process has more. */
  readonly calls?: 1;
}

interface Work {
  readonly change: (window: RateWindow) => Change<unknown>;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** A request that was counted so long ago might reach its provider too late for its margin. */
const STALE_MS = MARGIN_MS / 2;
/** A store that is that slow each time does not become quicker. */
const CONFIRMATIONS = 3;
/** After a failure of the store, until nothing counts any more what is to be corrected. */
const AGAIN_MS = 5_000;

/**
 * Counts the calls of one model, beside other processes where the states are those of a database. What comes at once
 * goes there together, in one read and one write; a request that finds no room costs the read alone.
 */
export class RateBook {
  /** Calls under way. */
  private held = 0;
  private waiting: Work[] = [];
  private isBusy = false;
  private renewal: NodeJS.Timeout | undefined;

  /** @param now milliseconds, never going back */
  constructor(
    private readonly limits: RateLimits,
    private readonly counting: Counting,
    private readonly now: () => number,
  ) {}

  /** @throws what the store throws: nothing is known then, and nothing may be sent */
  async enter(request: RateRequest): Promise<Place | NoRoom> {
    const asked = this.now();
    const found = await this.change((window) => this.book(window, request));
    if ('reason' in found) return found;
    this.renew();
    return this.placeOf(request, found, asked);
  }

  private book(window: RateWindow, request: RateRequest): Change<Booking | NoRoom> {
    const { worker, inputTokens, maxOutputTokens } = request;
    const tokens = inputTokens + window.expectedOutput(worker, maxOutputTokens);
    const { senders } = window;
    if (window.calls >= this.limits.concurrency) {
      return { value: { reason: 'concurrency', waitMs: null, tokens, senders }, isNew: false };
    }
    const waitMs = window.waitFor(tokens, this.limits);
    if (waitMs > 0) return { value: { reason: 'rate', waitMs, tokens, senders }, isNew: false };
    return { value: window.take(tokens), isNew: true, calls: 1 };
  }

  private placeOf(request: RateRequest, booked: Booking, asked: number): Place {
    let booking = booked;
    let since = asked;
    const move = async (): Promise<string | null> => {
      const began = this.now();
      const moved = await this.change((window) => ({ value: window.move(booking), isNew: true }));
      if (moved === null)
        return 'its room in the rate went to others while this process, or its store, stood still';
      [booking, since] = [moved, began];
      return null;
    };
    return {
      confirm: async () => {
        for (let tries = 0; tries < CONFIRMATIONS && this.now() - since > STALE_MS; tries += 1) {
          const obstacle = await move().catch(reasonOf);
          if (obstacle !== null) return obstacle;
        }
        return null;
      },
      leave: (counted) => {
        this.held -= 1;
        if (this.limits.tokensPerMinute === Infinity && this.limits.concurrency === Infinity) return;
        this.correct(
          (window) => {
            if (counted === null) return;
            window.correct(booking, counted.inputTokens + counted.outputTokens);
            if (counted.outputTokens > 0) window.learn(request.worker, counted.outputTokens);
          },
          Math.ceil(MINUTE_MS / AGAIN_MS),
        );
      },
    };
  }

  private correct(work: (window: RateWindow) => void, tries: number): void {
    const change = (window: RateWindow): Change<null> => {
      work(window);
      return { value: null, isNew: true };
    };
    const again = (): void => {
      this.correct(work, tries - 1);
    };
    this.change(change).catch(() => {
      if (tries > 0) setTimeout(again, AGAIN_MS).unref();
    });
  }

  /** While calls are under way, others are told that this process lives. Where that fails, the next time may do. */
  private renew(): void {
    if (this.limits.concurrency === Infinity) return;
    this.renewal ??= setInterval(() => {
      if (this.held > 0) this.correct(() => undefined, 0);
      else {
        clearInterval(this.renewal);
        this.renewal = undefined;
      }
    }, LEASE_MS / 3).unref();
  }

  private change<T>(change: (window: RateWindow) => Change<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const done = (value: unknown): void => {
        resolve(value as T);
      };
      this.waiting.push({ change, done, failed: reject });
      if (!this.isBusy) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0);
      try {
        await this.commit(batch);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.isBusy = false;
  }

  private async commit(batch: readonly Work[]): Promise<void> {
    const { states, name, process } = this.counting;
    for (let conflicts = 0; ; conflicts += 1) {
      const { text, version, now } = await states.read(name);
      const window = RateWindow.read(text, now);
      let calls = this.held;
      window.hold(process, calls);
      const changes = batch.map(({ change }) => {
        const made = change(window);
        calls += made.calls ?? 0;
        window.hold(process, calls);
        return made;
      });
      const isNew = changes.some((change) => change.isNew);
      if (!isNew || (await states.swap(name, window.toString(), version))) {
        for (const { calls: more = 0 } of changes) this.held += more;
        for (const [index, { done }] of batch.entries()) done(changes[index]?.value);
        return;
      }
      await pause(Math.random() * 10 * conflicts);
    }
  }
}
