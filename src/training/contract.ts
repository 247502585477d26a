import type { CheckpointRef, PolicyRef } from './names';
import type { NightRecord } from './records';
import type { GroupPart, Span } from './summarize-cycle';
import type { TrainingSettings } from './config/resolve';
import type { NightInput } from './inputs';
import type { InitRequest, PreflightRequest, WarmStartRequest } from './trainer-contract';

// Types that training's workflows and activities exchange.

export interface TrainInput extends NightInput {
  readonly carried?: CarriedNight | undefined;
}

export interface CarriedNight extends Pick<NightProgress, 'done' | 'rewards' | 'best' | 'warning'> {
  readonly opened: OpenedNight;
  readonly startedAt: number;
  readonly begun: CheckpointRef;
  readonly checkpoint: CheckpointRef;
  readonly writer: CheckpointRef;
  readonly spentNanoUsd: number;
  readonly rollouts: number;
  readonly budget: TrainingSettings['budget'];
  readonly isPaused: boolean;
}

export interface NightProgress {
  readonly trainRun: string;
  readonly night: string;
  readonly status: 'running' | 'paused' | 'stopping' | 'gate' | 'done';
  readonly cycles: { readonly first: number; readonly last: number };
  readonly done: number;
  readonly phase: string;
  readonly spentNanoUsd: number;
  readonly startedAt: string;
  readonly rewards: readonly number[];
  readonly best: { readonly checkpoint: string; readonly heldOut: number } | null;
  readonly warning: string | null;
}

export interface NightBudget {
  readonly costUsd?: number | null;
  readonly hours?: number;
}

export interface GroupRound {
  readonly key: string;
  readonly rewards: readonly (number | null)[];
  /** Rewards but for cost and length; absent if they do not count. */
  readonly outcomes?: readonly (number | null | undefined)[];
  /** Baseline that each reward is compared with; absent if the round has a single one. */
  readonly baselines?: readonly (string | undefined)[];
}

export interface GroupResult {
  readonly draw: number;
  readonly rounds: readonly GroupRound[];
  readonly spentNanoUsd: number;
  readonly spans: readonly Span<GroupPart>[];
  readonly stoppedBy: string | null;
  /** Mean reward of its final answers, after reviews; null if none could be graded. */
  readonly score: number | null;
}

export interface OpenedNight extends Pick<NightRecord, 'done' | 'train' | 'heldOut'> {
  readonly settings: TrainingSettings;
  readonly night: Pick<NightRecord, 'date' | 'first' | 'last'>;
  readonly isTrained: boolean;
  readonly from: CheckpointRef | null;
  readonly writer: CheckpointRef | null;
  readonly init: InitRequest;
  readonly warmStart: WarmStartRequest | null;
  /** Where the prompts lie that policy server and trainer must write alike; absent if an earlier version opened it. */
  readonly prompts?: PreflightRequest['prompts'];
  /** Mean cost of a rollout in the run's last cycle, in 10⁻⁹ USD; null if unknown. */
  readonly rolloutNanoUsd: number | null;
}

/** Policy, and the store keys of the groups by which it was tried: one for each trial and round. */
export interface Tried<Policy extends PolicyRef = PolicyRef> {
  readonly policy: Policy;
  readonly groups: readonly string[];
}

export interface CanaryGaps {
  /** Gaps to the promoted checkpoint and to its parent, for each group; null if the parent is gone. */
  readonly own: readonly number[];
  readonly parent: readonly number[] | null;
  readonly tolerance: number;
}
