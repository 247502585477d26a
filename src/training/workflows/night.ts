import { condition, workflowInfo } from '@temporalio/workflow';
import { type BudgetShare, SharedBudget } from '../../budget/shared-budget';
import { type CheckpointRef, describePolicy, readCheckpointId } from '../checkpoint-ref';
import type { CarriedNight, GroupResult, NightBudget, OpenedNight } from '../contract';
import { CANARY_QUESTIONS } from '../draw';
import { costOfGate } from '../gate';
import type { CycleMetrics, NightProgress, Span } from '../progress';
import type { TrainingSettings } from '../settings';

const HOUR_MS = 3_600_000;

/** Time beyond the night's for the current cycle and the gate. */
const OVERTIME_MS = HOUR_MS;

export class Night {
  private readonly money: SharedBudget;
  private isJudged = false;
  /** Present phase, for people. */
  phase = 'begin';
  isOver = false;

  constructor(
    /** State for a next run of the workflow. */
    public state: CarriedNight,
    readonly control: NightControl,
  ) {
    control.night = this;
    this.money = new SharedBudget(null, state.spentNanoUsd);
  }

  static begin(opened: OpenedNight, checkpoint: CheckpointRef, control: NightControl): Night {
    const state: CarriedNight = {
      opened,
      startedAt: workflowInfo().startTime.getTime(),
      begun: checkpoint,
      checkpoint,
      writer: opened.writer ?? checkpoint,
      done: opened.done,
      spentNanoUsd: 0,
      rollouts: 0,
      rewards: [],
      best: null,
      warning: null,
      budget: opened.settings.budget,
      isPaused: control.isPaused,
    };
    return new Night(state, control);
  }

  /** Budget as configured, with the changes that people made since. */
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

  /** Sets money aside for a group, of which `together` may be under way at once; null where it is used up. */
  share(together: number): BudgetShare | null {
    return this.upToDate().share(together);
  }

  /** Books a group that is over; null: it failed. */
  settle(share: BudgetShare, result: GroupResult | null): void {
    share.settle(result?.spentNanoUsd ?? null);
    const rollouts = this.state.rollouts + (result?.rounds[0]?.rewards.length ?? 0);
    this.state = { ...this.state, rollouts, spentNanoUsd: this.money.spent };
  }

  /** A group ran out of the night's money, and another one would too. */
  runShort(): void {
    this.upToDate().runShort();
  }

  /** Whether a group ran out of money, and no more was allowed since. */
  get isShort(): boolean {
    return this.upToDate().isShort;
  }

  isOutOfMoney(): boolean {
    return this.upToDate().isUsedUp;
  }

  /** From here on, what was kept for the gate may be spent. */
  beginGate(): void {
    this.phase = 'gate';
    this.isJudged = true;
    this.money.forgetShortage();
  }

  private upToDate(): SharedBudget {
    const { nanoUsd } = this.budget;
    const kept = nanoUsd === null || this.isJudged ? 0 : this.costOfGate(nanoUsd);
    this.money.allow(nanoUsd, kept);
    return this.money;
  }

  private costOfGate(budget: number): number {
    const { opened, rollouts, spentNanoUsd } = this.state;
    const known = [opened.rolloutNanoUsd ?? [], rollouts === 0 ? [] : spentNanoUsd / rollouts].flat();
    return costOfGate(budget, gateRollouts(opened), known.length === 0 ? null : Math.max(...known));
  }

  mustEnd(): boolean {
    const isTrained = this.state.done >= this.state.opened.night.last;
    return isTrained || this.control.isStopped || this.remainingMs() === 0 || this.isOutOfMoney();
  }

  /** Whether rollouts of a cycle may begin while the trainer makes the one before. */
  mayGoAhead(cycle: number): boolean {
    const { night } = this.state.opened;
    if (!this.isStale || cycle > night.last || this.control.isPaused) return false;
    // A long history is left at once, and not after another cycle.
    return !this.mustEnd() && !workflowInfo().continueAsNewSuggested;
  }

  private get isStale(): boolean {
    return this.state.opened.settings.staleness === 1;
  }

  /** Checkpoint that plans of the cycle after the one to come are sampled from; null: the one that it makes. */
  get nextWriter(): CheckpointRef | null {
    return this.isStale ? this.state.checkpoint : null;
  }

  warn(warning: string): void {
    this.state = { ...this.state, warning };
  }

  /** The checkpoints that the night needs once it has made this one. */
  neededWith(checkpoint: CheckpointRef): readonly CheckpointRef[] {
    const { begun, best } = this.state;
    const held = best === null ? null : readCheckpointId(best.checkpoint);
    return [begun, held, this.nextWriter, checkpoint].filter((each) => each !== null);
  }

  advance(checkpoint: CheckpointRef, { cycle, rewardMean, heldOut, collapse }: CycleMetrics): void {
    const { rewards, best, warning } = this.state;
    const isBest = heldOut !== null && heldOut > (best?.heldOut ?? -Infinity);
    this.state = {
      ...this.state,
      checkpoint,
      writer: this.nextWriter ?? checkpoint,
      done: cycle,
      rewards: [...rewards, rewardMean],
      best: isBest ? { checkpoint: describePolicy(checkpoint), heldOut } : best,
      warning: collapse ?? warning,
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

/** Rollouts by which the gate tries two policies, and the one that serves then is tried once more beside the other. */
function gateRollouts({ settings: { gate, pool }, heldOut }: OpenedNight): number {
  const questions = heldOut.count + Math.min(heldOut.count, CANARY_QUESTIONS);
  return 2 * gate.samples * questions * (pool.adaptive ? 2 : 1);
}

/** Requests of people to a night, possibly before it is opened. */
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
