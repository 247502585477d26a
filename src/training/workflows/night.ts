import { condition, workflowInfo } from '@temporalio/workflow';
import { type CheckpointRef, describePolicy, readCheckpointId } from '../checkpoint-ref';
import type { CarriedNight, NightBudget, OpenedNight } from '../contract';
import type { CycleMetrics, NightProgress, Span } from '../progress';
import type { TrainingSettings } from '../settings';

const HOUR_MS = 3_600_000;

/** What the current cycle and the gate may take beyond the night's time. */
const OVERTIME_MS = HOUR_MS;

export class Night {
  /** The budget, in 10⁻⁹ USD, that a group found too small; null: none did. */
  private tooLittle: number | null = null;
  /** What it is doing now, for people. */
  phase = 'begin';
  isOver = false;

  constructor(
    /** What a next run of the workflow would be given. */
    public state: CarriedNight,
    readonly control: NightControl,
  ) {
    control.night = this;
  }

  static begin(opened: OpenedNight, checkpoint: CheckpointRef, control: NightControl): Night {
    const state: CarriedNight = {
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
    return new Night(state, control);
  }

  /** As configured, with the changes that people made since. */
  private get budget(): TrainingSettings['budget'] {
    const { nanoUsd, wallClockMs } = this.state.budget;
    const { costUsd, hours } = this.control.budget;
    return {
      nanoUsd: costUsd === undefined ? nanoUsd : costUsd === null ? null : Math.round(costUsd * 1e9),
      wallClockMs: hours === undefined ? wallClockMs : hours * HOUR_MS,
    };
  }

  describeBudget(): NightBudget {
    const { nanoUsd, wallClockMs } = this.budget;
    return { costUsd: nanoUsd === null ? null : nanoUsd / 1e9, hours: wallClockMs / HOUR_MS };
  }

  remainingMs(): number {
    return Math.max(0, this.state.startedAt + this.budget.wallClockMs - Date.now());
  }

  /** How long the trainer is waited for: the current cycle is finished even when the night's time is used up. */
  patienceMs(): number {
    return this.remainingMs() + OVERTIME_MS;
  }

  /** 10⁻⁹ USD; null: no limit. */
  remainingNanoUsd(): number | null {
    const { nanoUsd } = this.budget;
    return nanoUsd === null ? null : Math.max(0, nanoUsd - this.state.spentNanoUsd);
  }

  spend(nanoUsd: number): void {
    this.state = { ...this.state, spentNanoUsd: this.state.spentNanoUsd + nanoUsd };
  }

  /** A group ran out of the night's money, and another one would too. */
  runShort(): void {
    this.tooLittle = this.budget.nanoUsd;
  }

  isOutOfMoney(): boolean {
    const { nanoUsd } = this.budget;
    const isShort = nanoUsd !== null && this.tooLittle !== null && nanoUsd <= this.tooLittle;
    return isShort || this.remainingNanoUsd() === 0;
  }

  mustEnd(): boolean {
    const isTrained = this.state.done >= this.state.opened.night.last;
    return isTrained || this.control.isStopped || this.remainingMs() === 0 || this.isOutOfMoney();
  }

  warn(warning: string): void {
    this.state = { ...this.state, warning };
  }

  /** The checkpoints that the night needs once it has made this one. */
  neededWith(checkpoint: CheckpointRef): readonly CheckpointRef[] {
    const { begun, best } = this.state;
    const held = best === null ? null : readCheckpointId(best.checkpoint);
    return [begun, ...(held === null ? [] : [held]), checkpoint];
  }

  advance(checkpoint: CheckpointRef, { cycle, rewardMean, heldOut }: CycleMetrics): void {
    const { rewards, best } = this.state;
    const isBest = heldOut !== null && heldOut > (best?.heldOut ?? -Infinity);
    this.state = {
      ...this.state,
      checkpoint,
      done: cycle,
      rewards: [...rewards, rewardMean],
      best: isBest ? { checkpoint: describePolicy(checkpoint), heldOut } : best,
    };
  }

  toCarry(): CarriedNight {
    return { ...this.state, budget: this.budget, isPaused: this.control.isPaused };
  }

  progress(): NightProgress {
    const { opened, done, spentNanoUsd, startedAt, rewards, best, warning } = this.state;
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

/** What people ask of a night, possibly before it is opened. */
export class NightControl {
  night: Night | null = null;
  isStopped = false;
  budget: NightBudget = {};

  constructor(public isPaused = false) {}

  whenResumed(): Promise<void> {
    return condition(() => !this.isPaused || this.isStopped);
  }
}

/** Notes when the parts of some work were under way, by the workflow's clock; parts may overlap. */
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
