import { type ApplicationFailure, condition, workflowInfo } from '@temporalio/workflow';
import { Account } from '../budget/account';
import { type Amount, describeLimit, type LimitRefusal } from '../budget/amount';
import type { SpendingLimits } from '../protocol/messages';
import type { WorstCase } from '../budget/worst-case';
import type { Allowance } from '../protocol/activity-contract';
import type { Call, Problem } from '../protocol/solve';
import { FAILURES } from '../protocol/failures';
import type { RunLimits } from '../protocol/cards';
import { limitFailure, type StoppedBy } from './failures';

/** Amount set aside for one call of a model, to be settled once the call is over. */
export interface Reservation {
  readonly allowance: Allowance;
  settle(calls: readonly Call[]): void;
}

export interface Share {
  readonly limits: SpendingLimits;
  /** @param spentAtMost null: the child left no trace */
  settle(spentAtMost: Amount | null): void;
}

/**
 * The limits of one solve, and whether one of them has ended it. A call or child that may fit once others give back what
 * they did not use waits for them; one that cannot fit any more stops the run, with the best answer so far.
 */
export class Limits {
  private readonly account: Account;
  private taken = 0;
  /** Counts what may let a waiting call fit. */
  private changes = 0;
  private waitedMs = 0;
  /** When a wait for a person ends without them, in milliseconds; null where none is under way. */
  personEndsAt: number | null = null;
  /** Calls and children that wait until they fit. */
  private waiting = 0;
  private stop: { readonly by: StoppedBy; readonly failure: ApplicationFailure } | null = null;

  /** @param asked the limits that hold, even where more was set aside already */
  constructor(private asked: RunLimits) {
    this.account = new Account(asked);
  }

  get stoppedBy(): StoppedBy | null {
    return this.stop?.by ?? null;
  }

  get isWaitedFor(): boolean {
    return this.waiting > 0;
  }

  get spentAtMost(): Amount {
    return this.account.spentAtMost;
  }

  get current(): RunLimits {
    return { ...this.asked, ...this.account.limits };
  }

  /** Time until the wall clock ends the run; waiting for a person does not count. */
  remainingMs(): number {
    const end = workflowInfo().runStartTime.getTime() + this.asked.wallClockMs + this.waitedMs;
    return Math.max(0, end - Date.now());
  }

  /** Waits for a person, at most as long as plans may wait, and takes the time off the run's account. */
  async waitForPerson(isAnswered: () => boolean): Promise<void> {
    const start = Date.now();
    this.personEndsAt = start + this.asked.approvalMs;
    await condition(isAnswered, this.asked.approvalMs);
    this.personEndsAt = null;
    this.waitedMs += Date.now() - start;
  }

  /**
   * Sets aside what a call may come to; null while it has to wait for what others give back.
   * @throws ApplicationFailure of a `Limit.*` type when it cannot fit any more, or the run was stopped already
   */
  reserve(worst: WorstCase): Reservation | null {
    const key = String((this.taken += 1));
    const allowance = this.grant(() => this.account.reserve(key, worst));
    const settle = (calls: readonly Call[]): void => {
      this.account.settle(key, calls);
      this.changes += 1;
    };
    return allowance && { allowance, settle };
  }

  /** Sets aside a part of what is left for a child; null and errors are those of `reserve`. */
  share(parts: number): Share | null {
    const key = String((this.taken += 1));
    const limits = this.grant(() => this.account.share(key, parts));
    const settle = (spentAtMost: Amount | null): void => {
      this.account.settleChild(key, spentAtMost);
      this.changes += 1;
    };
    return limits && { limits, settle };
  }

  /**
   * Asks again each time that something may have come to fit. It is separate from the first try because most requests
   * fit at once, and the SDK takes a stack trace of every promise that a workflow makes.
   */
  async waitFor<Granted>(ask: () => Granted | null): Promise<Granted> {
    this.waiting += 1;
    try {
      for (;;) {
        const before = this.changes;
        await condition(() => this.changes !== before || this.stop !== null);
        const granted = ask();
        if (granted !== null) return granted;
      }
    } finally {
      this.waiting -= 1;
    }
  }

  /** Whether something of this size would exceed the cost limit; false where there is none, or no price. */
  isTooDear(nanoUsd: number | null): boolean {
    const limit = this.asked.nanoUsd;
    return nanoUsd !== null && limit !== null && this.spentAtMost.nanoUsd + nanoUsd > limit;
  }

  reasonToStop(): ApplicationFailure | null {
    if (this.remainingMs() === 0) this.outOfTime();
    return this.stop?.failure ?? null;
  }

  /** Notes that the time was used up while something was under way, and says so in its stead. */
  outOfTime(): Problem {
    const message = `the run's ${this.asked.wallClockMs / 1000} s were used up before this was done; raise limits.wallClock`;
    this.stopBy('wallClock', message);
    return { type: FAILURES.wallClock, message };
  }

  /** Ends the run by a limit: nothing more starts. The first reason stands. */
  stopBy(by: StoppedBy, message: string): ApplicationFailure {
    this.stop ??= { by, failure: limitFailure(by, message) };
    return this.stop.failure;
  }

  change(change: Partial<RunLimits>): void {
    this.asked = { ...this.asked, ...change };
    this.account.setLimits(this.asked);
    this.changes += 1;
  }

  private grant<Granted extends object>(ask: () => Granted | LimitRefusal): Granted | null {
    const stop = this.reasonToStop();
    if (stop !== null) throw stop;
    const answer = ask();
    if (!('mayFitLater' in answer)) return answer;
    if (answer.mayFitLater) return null;
    throw this.stopBy(answer.limit, describeLimit(answer));
  }
}
