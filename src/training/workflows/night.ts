import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { type BudgetShare, SharedBudget } from '../../budget/shared-budget';
import { shouldMoveOn } from '../../evaluation/workflows/parts';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import type { CarriedNight, GroupResult, NightBudget, NightProgress, OpenedNight } from '../contract';
import type { GroupInput } from '../inputs';
import { CANARY_QUESTIONS, groupInput, type GroupMost, type GroupOptions, lackedMoney } from '../draw';
import { costOfGate } from '../gate-rule';
import * as names from '../names';
import { type CheckpointRef, describePolicy, readCheckpointId } from '../names';
import type { CycleMetrics } from '../records';
import type { TrainingSettings } from '../config/resolve';
import type { NightControl } from './messages';

const HOUR_MS = 3_600_000;

const OVERTIME_MS = HOUR_MS;

/** State of a night: its money and time, checkpoint and figures. `loop.ts` drives it; it starts the groups. */
export class Night {
  private readonly money: SharedBudget;
  private isJudged = false;
  phase = 'begin';
  isOver = false;

  constructor(
    public state: CarriedNight,
    readonly control: NightControl,
  ) {
    control.night = this;
    control.isPaused ??= state.isPaused;
    this.money = new SharedBudget(null, state.spentNanoUsd);
  }

  static begin(opened: OpenedNight, checkpoint: CheckpointRef, control: NightControl): Night {
    const { done, settings, writer } = opened;
    const startedAt = workflowInfo().startTime.getTime();
    return new Night(
      {
        opened,
        startedAt,
        begun: checkpoint,
        checkpoint,
        writer: writer ?? checkpoint,
        done,
        spentNanoUsd: 0,
        rollouts: 0,
        rewards: [],
        best: null,
        warning: null,
        budget: settings.budget,
        isPaused: false,
      },
      control,
    );
  }

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

  private remainingMs(): number {
    return Math.max(0, this.state.startedAt + this.budget.wallClockMs - Date.now());
  }

  /** Timeout for the trainer: the current cycle is finished even after the night's time is used up. */
  trainerTimeoutMs(): number {
    return this.remainingMs() + OVERTIME_MS;
  }

  /** Starts a group with an equal share of the money left for `together` groups at once; null if none is left. */
  startGroup(options: GroupOptions, together: number): Promise<GroupResult> | null {
    const share = this.upToDate().share(together);
    return share && this.playGroup(share, options);
  }

  /** Runs a group as a child workflow at a low priority, which its activities inherit: waiting users go first. */
  private async playGroup(share: BudgetShare, options: GroupOptions): Promise<GroupResult> {
    const { settings } = this.state.opened;
    // Trials on held-out questions may run after the night's time is used up.
    const wallClockMs = options.purpose === 'training' ? this.remainingMs() : MAX_WALL_CLOCK_MS;
    const input = this.tracedInput(options, { nanoUsd: share.nanoUsd, wallClockMs });
    let result: GroupResult | null = null;
    try {
      result = await executeChild<(input: GroupInput) => Promise<GroupResult>>(names.GROUP_WORKFLOW, {
        workflowId:
          input.purpose === 'training' ? names.groupWorkflowId(input) : names.trialWorkflowId(input),
        args: [input],
        taskQueue: settings.slots === null ? undefined : names.groupQueue(workflowInfo().taskQueue),
        priority: { priorityKey: names.NIGHT_PRIORITY },
        // No group goes on spending after the end of its night.
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        staticSummary: `question ${input.question.index + 1}, ${input.plans} plans`,
      });
      if (lackedMoney(settings, input, result)) this.upToDate().runShort();
      return result;
    } finally {
      share.settle(result?.spentNanoUsd ?? null);
      const rollouts = this.state.rollouts + (result?.rounds[0]?.rewards.length ?? 0);
      this.state = { ...this.state, rollouts, spentNanoUsd: this.money.spent };
    }
  }

  /** Returns the input of a group, whose spans hang below that of its cycle. */
  tracedInput(options: GroupOptions, most: GroupMost): GroupInput {
    const input = groupInput(this.state.opened.settings, options, most);
    return { ...input, traceparent: this.traceparentOf(options.cycle) };
  }

  traceparentOf(cycle: number): string {
    return names.cycleTraceparent(workflowInfo().runId, cycle);
  }

  get isShort(): boolean {
    return this.upToDate().isShort;
  }

  /** Starts the gate: from here on, the money reserved for it may be spent. */
  beginGate(): void {
    this.phase = 'gate';
    this.isJudged = true;
    this.money.forgetShortage();
  }

  private upToDate(): SharedBudget {
    const { nanoUsd } = this.budget;
    this.money.allow(nanoUsd, nanoUsd === null || this.isJudged ? 0 : this.costOfGate(nanoUsd));
    return this.money;
  }

  /** Estimates the gate's cost: two policies on the held-out questions, then both again on the canary's. */
  private costOfGate(budget: number): number {
    const { opened, rollouts, spentNanoUsd } = this.state;
    const { rolloutNanoUsd, heldOut, settings } = opened;
    const questions = heldOut.count + Math.min(heldOut.count, CANARY_QUESTIONS);
    const planned = 2 * settings.gate.samples * questions * (settings.pool.adaptive ? 2 : 1);
    const own = rollouts === 0 ? rolloutNanoUsd : Math.max(spentNanoUsd / rollouts, rolloutNanoUsd ?? 0);
    return costOfGate(budget, planned, own);
  }

  mustEnd(): boolean {
    const isTrained = this.state.done >= this.state.opened.night.last;
    return isTrained || this.control.isStopped || this.remainingMs() === 0 || this.upToDate().isUsedUp;
  }

  mayGoAhead(cycle: number): boolean {
    const { night } = this.state.opened;
    if (!this.isStale || cycle > night.last || this.control.isPaused === true) return false;
    // A loop that should move on does so at once, not after another cycle.
    return !this.mustEnd() && !shouldMoveOn();
  }

  private get isStale(): boolean {
    return this.state.opened.settings.staleness === 1;
  }

  /** Checkpoint that samples plans for the cycle after the current one; null: the one that the current cycle makes. */
  get nextWriter(): CheckpointRef | null {
    return this.isStale ? this.state.checkpoint : null;
  }

  warn(warning: string): void {
    this.state = { ...this.state, warning };
  }

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
    return { ...this.state, budget: this.budget, isPaused: this.control.isPaused === true };
  }

  progress(): NightProgress {
    const { opened, done, spentNanoUsd, startedAt, rewards, best, warning } = this.state;
    const { date: night, ...cycles } = opened.night;
    return {
      night,
      cycles,
      done,
      spentNanoUsd,
      rewards,
      best,
      warning,
      trainRun: opened.settings.trainRun,
      status: this.status(),
      phase: this.phase,
      startedAt: new Date(startedAt).toISOString(),
    };
  }

  private status(): NightProgress['status'] {
    if (this.isOver) return 'done';
    if (this.phase === 'gate') return 'gate';
    if (this.control.isStopped) return 'stopping';
    return this.control.isPaused === true ? 'paused' : 'running';
  }
}
