import { type ApplicationFailure, condition, metricMeter, patched, workflowInfo } from '@temporalio/workflow';
import { Account, type CallReservation, type Share } from '../budget/account';
import { type Amount, describeLimit, type LimitRefusal } from '../budget/amount';
import type { WorstCase } from '../budget/worst-case';
import type { Problem } from '../protocol/solve';
import { FAILURES } from '../protocol/failures';
import type { RunLimits } from '../protocol/cards';
import { METRICS, record } from '../telemetry/metrics';
import { limitFailure, type StoppedBy } from './failures';

/** Change: nothing starts without time left. Written into histories: never rename it. */
export const IN_TIME = 'starts-in-time';

/**
 * Limits of one solve, and whether one of them has stopped it. A call or child that may fit once others release what
 * they did not use waits for them. One that can no longer fit stops the run, with the best answer so far.
 */
export class Limits {
  private readonly account: Account;
  /** Time for which the clock was stopped, without the present stops. */
  private waitedMs = 0;
  private stops = 0;
  private stoppedAt = 0;
  /** Deadlines of the present waits for a person, in milliseconds since 1970. */
  private readonly deadlines: number[] = [];
  /** Number of calls and children that wait until they fit. */
  private waiting = 0;
  private stop: { readonly by: StoppedBy; readonly failure: ApplicationFailure } | null = null;

  /** @param asked the limits as they were set, even if more is set aside already */
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

  /** Returns the time until the wall clock ends the run; time spent waiting for somebody does not count. */
  remainingMs(): number {
    const end = workflowInfo().runStartTime.getTime() + this.asked.wallClockMs + this.waitedMs;
    const present = this.stops === 0 ? Date.now() : this.stoppedAt;
    return Math.max(0, end - present);
  }

  /**
   * Returns the time for something that starts now. With a timeout of 0, Temporal would refuse an activity for ever, and
   * give a workflow any time.
   * @throws ApplicationFailure of type `Limit.WallClock` if no time is left
   */
  timeToStart(): number {
    const leftMs = this.remainingMs();
    const stop = leftMs > 0 ? null : this.reasonToStop();
    if (stop !== null && patched(IN_TIME)) throw stop;
    return leftMs;
  }

  /** Earliest deadline of a present wait for a person, in milliseconds since 1970; null if there is none. */
  get personEndsAt(): number | null {
    return this.deadlines[0] ?? null;
  }

  /** Waits for a person, at most the time for approvals. */
  async waitForPerson(isAnswered: () => boolean): Promise<void> {
    const { approvalMs } = this.asked;
    const from = Date.now();
    const deadline = from + approvalMs;
    this.deadlines.push(deadline);
    // The only timers of a run: the history reader reads from them what waits (rule 2 of `client/trace-reader.ts`).
    await this.stopClock(() => condition(isAnswered, approvalMs));
    this.deadlines.splice(this.deadlines.indexOf(deadline), 1);
    const labels = { reason: 'person', provider: '', model: '' };
    record(metricMeter, METRICS.waitSeconds, (Date.now() - from) / 1000, labels);
  }

  /** Waits for somebody outside. The wait does not count towards the wall clock. */
  async stopClock<Answer>(wait: () => Promise<Answer>): Promise<Answer> {
    if (this.stops === 0) this.stoppedAt = Date.now();
    this.stops += 1;
    try {
      return await wait();
    } finally {
      this.stops -= 1;
      if (this.stops === 0) this.waitedMs += Date.now() - this.stoppedAt;
    }
  }

  /**
   * Sets aside a call's worst case. Returns null if the call must wait until others release what they did not use.
   * @throws ApplicationFailure of a `Limit.*` type if the call can no longer fit, or the run was stopped already
   */
  reserve(worst: WorstCase): CallReservation | null {
    return this.grant(() => this.account.reserve(worst));
  }

  /** Whether all of these calls fit now. */
  fits(calls: readonly WorstCase[]): boolean {
    return this.account.fits(calls);
  }

  /** Sets an amount aside that is known to fit. The result books how much of it was spent, and releases the rest. */
  hold(amount: Amount): (spent: Amount) => void {
    return this.account.hold(amount);
  }

  /** Sets aside a part of what is left for a child. Returns null and throws as `reserve` does. */
  share(parts: number): Share | null {
    return this.grant(() => this.account.share(parts));
  }

  /**
   * Asks again whenever something may have come to fit. This is separate from the first attempt because most requests
   * fit at once, and the SDK takes a stack trace of every promise that a workflow makes.
   */
  async waitFor<Granted>(ask: () => Granted | null): Promise<Granted> {
    this.waiting += 1;
    try {
      for (;;) {
        const before = this.account.changes;
        await condition(() => this.account.changes !== before || this.stop !== null);
        const granted = ask();
        if (granted !== null) return granted;
      }
    } finally {
      this.waiting -= 1;
    }
  }

  /** Whether spending this much more would exceed the cost limit; false if there is no limit or the cost is unknown. */
  isTooDear(nanoUsd: number | null): boolean {
    const limit = this.asked.nanoUsd;
    return nanoUsd !== null && limit !== null && this.spentAtMost.nanoUsd + nanoUsd > limit;
  }

  reasonToStop(): ApplicationFailure | null {
    if (this.remainingMs() === 0) this.outOfTime();
    return this.stop?.failure ?? null;
  }

  /** Stops the run because its time ran out during a call, and returns the problem to report for that call. */
  outOfTime(): Problem {
    const message = `the run reached its time limit of ${this.asked.wallClockMs / 1000} s before this finished; raise limits.wallClock`;
    this.stopBy('wallClock', message);
    return { type: FAILURES.wallClock, message };
  }

  /** Stops the run by a limit, so that nothing more starts. The first reason wins. */
  stopBy(by: StoppedBy, message: string): ApplicationFailure {
    if (this.stop === null) record(metricMeter, METRICS.budgetRefusals, 1, { limit: by });
    this.stop ??= { by, failure: limitFailure(by, message) };
    return this.stop.failure;
  }

  change(change: Partial<RunLimits>): void {
    this.asked = { ...this.asked, ...change };
    this.account.setLimits(this.asked);
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
