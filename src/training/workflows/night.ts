import { condition, workflowInfo } from '@temporalio/workflow';
import type { OpenedNight } from '../contract';
import { type CarriedNight, type CheckpointRef, describePolicy, type NightBudget } from '../input';
import { readCheckpointId } from '../manifest';
import type { CycleMetrics, NightProgress } from '../progress';
import type { TrainingSettings } from '../settings';
import type { Span } from '../summarize-cycle';

/** What the cycle under way, and the gate, may take beyond the night's time. */
const OVERTIME_MS = 60 * 60_000;

/** Where a night stands. */
export class Night {
  private carried: CarriedNight;
  /** 10⁻⁹ USD that a group wanted more than; null: none did. */
  private tooLittle: number | null = null;
  /** For people: what it is doing now. */
  phase = 'begin';
  isOver = false;

  constructor(
    carried: CarriedNight,
    readonly orders: NightControl,
  ) {
    this.carried = carried;
    orders.attachLimits(carried.budget);
  }

  get opened(): OpenedNight {
    return this.carried.opened;
  }

  /** What it began with. */
  get begun(): CheckpointRef {
    return this.carried.begun;
  }

  /** What it has come to. */
  get checkpoint(): CheckpointRef {
    return this.carried.checkpoint;
  }

  /** The last cycle that is over. */
  get done(): number {
    return this.carried.done;
  }

  /** Milliseconds of the night's time that are left. */
  remainingMs(): number {
    const { wallClockMs } = this.budget();
    return Math.max(0, this.carried.startedAt + wallClockMs - Date.now());
  }

  /** How long the trainer is waited for: the cycle under way is finished though the night's time be used up. */
  patienceMs(): number {
    return this.remainingMs() + OVERTIME_MS;
  }

  /** 10⁻⁹ USD that are left; null where there is no such limit. */
  remainingNanoUsd(): number | null {
    const { nanoUsd } = this.budget();
    return nanoUsd === null ? null : Math.max(0, nanoUsd - this.carried.spentNanoUsd);
  }

  /** A group could not be paid to its end: none that begins now would come further. */
  runShort(): void {
    this.tooLittle = this.budget().nanoUsd;
  }

  isOutOfMoney(): boolean {
    const { nanoUsd } = this.budget();
    const isShort = nanoUsd !== null && this.tooLittle !== null && nanoUsd <= this.tooLittle;
    return isShort || this.remainingNanoUsd() === 0;
  }

  /** Why no further cycle begins, or null. */
  reasonToEnd(): string | null {
    if (this.done >= this.opened.night.last) return 'all its cycles are over';
    if (this.orders.isStopped) return 'it was told to stop';
    if (this.remainingMs() === 0) return 'its time is used up';
    if (this.isOutOfMoney()) return 'its money is used up';
    return null;
  }

  spend(nanoUsd: number): void {
    this.carried = { ...this.carried, spentNanoUsd: this.carried.spentNanoUsd + nanoUsd };
  }

  /** Something went wrong that does the night no harm. */
  warn(warning: string): void {
    this.carried = { ...this.carried, warning };
  }

  /** What it needs itself, having come to a checkpoint: that, where it began, and its best. */
  neededWith(checkpoint: CheckpointRef): readonly CheckpointRef[] {
    const { begun, best } = this.carried;
    const held = best === null ? null : readCheckpointId(best.checkpoint);
    return [begun, ...(held === null ? [] : [held]), checkpoint];
  }

  /** A cycle is over. */
  advance(checkpoint: CheckpointRef, { cycle, rewardMean, heldOut }: CycleMetrics): void {
    const { rewards, best } = this.carried;
    const isBest = heldOut !== null && heldOut > (best?.heldOut ?? -Infinity);
    this.carried = {
      ...this.carried,
      checkpoint,
      done: cycle,
      rewards: [...rewards, rewardMean],
      best: isBest ? { checkpoint: describePolicy(checkpoint), heldOut } : best,
    };
  }

  /** For the next run of the workflow. */
  toCarry(): CarriedNight {
    return { ...this.carried, budget: this.budget(), isPaused: this.orders.isPaused };
  }

  progress(): NightProgress {
    const { opened, done, spentNanoUsd, startedAt, rewards, best, warning } = this.carried;
    const { date, first, last } = opened.night;
    return {
      trainRun: opened.settings.trainRun,
      night: date,
      status: this.status(),
      cycles: { first, last },
      done,
      phase: this.phase,
      spentNanoUsd,
      startedAt: new Date(startedAt).toISOString(),
      rewards,
      best,
      warning,
    };
  }

  private budget(): CarriedNight['budget'] {
    return this.orders.current ?? this.carried.budget;
  }

  private status(): NightProgress['status'] {
    if (this.isOver) return 'done';
    if (this.phase === 'gate') return 'gate';
    if (this.orders.isStopped) return 'stopping';
    return this.orders.isPaused ? 'paused' : 'running';
  }
}

/** A night that has just been opened. */
export function beginNight(opened: OpenedNight, checkpoint: CheckpointRef, orders: NightControl): Night {
  const carried: CarriedNight = {
    opened,
    startedAt: workflowInfo().startTime.getTime(),
    begun: checkpoint,
    checkpoint,
    done: opened.done,
    spentNanoUsd: 0,
    rewards: [],
    best: null,
    warning: null,
    budget: opened.settings.budget,
    isPaused: orders.isPaused,
  };
  return new Night(carried, orders);
}

const HOUR_MS = 3_600_000;

/** What a night was told to do, from its first moment on. */
export class NightControl {
  private budget: TrainingSettings['budget'] | null = null;
  /** Told before the night knew its configured budget. */
  private asked: NightBudget = {};

  constructor(public isPaused = false) {}

  isStopped = false;

  /** What the night may use: as configured, or as it was told since. */
  get current(): TrainingSettings['budget'] | null {
    return this.budget;
  }

  /** From here on the night has a budget. */
  attachLimits(budget: TrainingSettings['budget']): void {
    this.budget = budget;
    this.changeBudget(this.asked);
  }

  /** Takes over another budget, and returns what now holds; what is not named stays. */
  changeBudget(change: NightBudget): NightBudget {
    if (this.budget === null) {
      this.asked = { ...this.asked, ...change };
      return this.asked;
    }
    const { costUsd, hours } = change;
    this.budget = {
      nanoUsd:
        costUsd === undefined ? this.budget.nanoUsd : costUsd === null ? null : Math.round(costUsd * 1e9),
      wallClockMs: hours === undefined ? this.budget.wallClockMs : hours * HOUR_MS,
    };
    return {
      costUsd: this.budget.nanoUsd === null ? null : this.budget.nanoUsd / 1e9,
      hours: this.budget.wallClockMs / HOUR_MS,
    };
  }

  /** Waits while the night is held. */
  async whenResumed(): Promise<void> {
    await condition(() => !this.isPaused || this.isStopped);
  }
}

/** Notes when the parts of a piece of work were under way, by the workflow's own clock; parts may overlap. */
export class Stopwatch<Part extends string> {
  readonly spans: Span<Part>[] = [];

  async time<Result>(part: Part, work: () => Promise<Result>): Promise<Result> {
    const from = Date.now();
    try {
      return await work();
    } finally {
      this.spans.push({ part, from, to: Date.now() });
    }
  }
}
