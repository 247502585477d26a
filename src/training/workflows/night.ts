import { condition, workflowInfo } from '@temporalio/workflow';
import type { CarriedNight, NightBudget, OpenedNight } from '../contract';
import type { CycleMetrics, NightProgress, Span } from '../progress';
import type { TrainingSettings } from '../settings';
import { type CheckpointRef, describePolicy, readCheckpointId } from '../checkpoint-ref';

const HOUR_MS = 3_600_000;

/** What the cycle under way, and the gate, may take beyond the night's time. */
const OVERTIME_MS = HOUR_MS;

/** Where a night stands. */
export class Night {
  /** What 10⁻⁹ USD allowed when a group needed more; null: none did. */
  private tooLittle: number | null = null;
  /** For people: what it is doing now. */
  phase = 'begin';
  isOver = false;

  constructor(
    private carried: CarriedNight,
    readonly control: NightControl,
  ) {
    control.night = this;
  }

  /** A night that has just been opened. */
  static begin(opened: OpenedNight, checkpoint: CheckpointRef, control: NightControl): Night {
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
      isPaused: control.isPaused,
    };
    return new Night(carried, control);
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

  /** As configured, but for what people changed since. */
  private get budget(): TrainingSettings['budget'] {
    const { nanoUsd, wallClockMs } = this.carried.budget;
    const { costUsd, hours } = this.control.budget;
    return {
      nanoUsd: costUsd === undefined ? nanoUsd : costUsd === null ? null : Math.round(costUsd * 1e9),
      wallClockMs: hours === undefined ? wallClockMs : hours * HOUR_MS,
    };
  }

  /** The budget that now holds, as people write it. */
  describeBudget(): NightBudget {
    const { nanoUsd, wallClockMs } = this.budget;
    return { costUsd: nanoUsd === null ? null : nanoUsd / 1e9, hours: wallClockMs / HOUR_MS };
  }

  /** Milliseconds of the night's time that are left. */
  remainingMs(): number {
    return Math.max(0, this.carried.startedAt + this.budget.wallClockMs - Date.now());
  }

  /** How long the trainer is waited for: the cycle under way is finished even when the night's time is used up. */
  patienceMs(): number {
    return this.remainingMs() + OVERTIME_MS;
  }

  /** 10⁻⁹ USD that are left; null where there is no such limit. */
  remainingNanoUsd(): number | null {
    const { nanoUsd } = this.budget;
    return nanoUsd === null ? null : Math.max(0, nanoUsd - this.carried.spentNanoUsd);
  }

  spend(nanoUsd: number): void {
    this.carried = { ...this.carried, spentNanoUsd: this.carried.spentNanoUsd + nanoUsd };
  }

  /** A group ran out of money before its end: no other one would come further. */
  runShort(): void {
    this.tooLittle = this.budget.nanoUsd;
  }

  isOutOfMoney(): boolean {
    const { nanoUsd } = this.budget;
    const isShort = nanoUsd !== null && this.tooLittle !== null && nanoUsd <= this.tooLittle;
    return isShort || this.remainingNanoUsd() === 0;
  }

  /** Whether no further cycle begins. */
  mustEnd(): boolean {
    const isTrained = this.done >= this.opened.night.last;
    return isTrained || this.control.isStopped || this.remainingMs() === 0 || this.isOutOfMoney();
  }

  /** Something went wrong that does the night no harm. */
  warn(warning: string): void {
    this.carried = { ...this.carried, warning };
  }

  /** The checkpoints that it needs when it has come to this one: that, where it began, and its best. */
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
    return { ...this.carried, budget: this.budget, isPaused: this.control.isPaused };
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

  private status(): NightProgress['status'] {
    if (this.isOver) return 'done';
    if (this.phase === 'gate') return 'gate';
    if (this.control.isStopped) return 'stopping';
    return this.control.isPaused ? 'paused' : 'running';
  }
}

/** What people ask of a night, from its first moment on: it may come before the night is opened. */
export class NightControl {
  /** null until it is opened. */
  night: Night | null = null;
  isStopped = false;
  /** What was changed of the configured budget. */
  budget: NightBudget = {};

  constructor(public isPaused = false) {}

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
