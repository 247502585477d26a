import type { AskedQuestion } from '../evaluation/contract';
import type { Text } from '../protocol/text';
import type { CheckpointRef, PolicyRef } from './ids';
import type { CycleMetrics, NightRecord, SampledPlan } from './records';
import type { GroupPart, Span } from './cycle-times';
import type { TrainingSettings } from './config/resolve';
import type { GroupInput, NightInput } from './inputs';
import type { InitRequest, WarmStartRequest } from './trainer-contract';

// Inputs and outputs of training's workflows, and of the activities that have more than a few arguments.

/** Input of `conductorTrain`. */
export interface TrainInput extends NightInput {
  readonly carried?: CarriedNight | undefined;
}

/** State that a night carries into a new run of its workflow. */
export interface CarriedNight extends Pick<NightProgress, 'done' | 'rewards' | 'best' | 'warning'> {
  readonly opened: OpenedNight;
  readonly startedAt: number;
  readonly begun: CheckpointRef;
  readonly checkpoint: CheckpointRef;
  /** Checkpoint that samples the next cycle's plans. */
  readonly writer: CheckpointRef;
  readonly spentNanoUsd: number;
  /** Rollouts that the money was spent on, reviews not counted. */
  readonly rollouts: number;
  readonly budget: TrainingSettings['budget'];
  readonly isPaused: boolean;
}

/** How far a night has come, as `train status` shows it. */
export interface NightProgress {
  readonly trainRun: string;
  readonly night: string;
  readonly status: 'running' | 'paused' | 'stopping' | 'gate' | 'done';
  readonly cycles: { readonly first: number; readonly last: number };
  /** The last one that is over; `first - 1` before that. */
  readonly done: number;
  readonly phase: string;
  readonly spentNanoUsd: number;
  readonly startedAt: string;
  /** Rewards of the cycles so far, oldest first. */
  readonly rewards: readonly number[];
  readonly best: { readonly checkpoint: string; readonly heldOut: number } | null;
  /** Last problem that did the night no harm, in one sentence. */
  readonly warning: string | null;
}

/** Budget of the rest of a night; null: no such limit. */
export interface NightBudget {
  readonly costUsd?: number | null;
  readonly hours?: number;
}

/** Facts that the batch is chosen by. */
export interface GroupRound {
  /** Store key of its record. */
  readonly key: string;
  readonly rewards: readonly (number | null)[];
}

export interface GroupResult {
  readonly draw: number;
  readonly rounds: readonly GroupRound[];
  readonly spentNanoUsd: number;
  readonly spans: readonly Span<GroupPart>[];
  /** Set where a limit stopped it before all its rollouts were over. */
  readonly stoppedBy: string | null;
  /** Mean reward of its answers, reviewed ones in place of those that were; null where none could be graded. */
  readonly score: number | null;
}

/** A night that has claimed its cycles. */
export interface OpenedNight {
  readonly settings: TrainingSettings;
  readonly night: Pick<NightRecord, 'date' | 'first' | 'last'>;
  /** True where it was trained to its end before: there is nothing to do. */
  readonly isTrained: boolean;
  /** The last cycle that is over; `first - 1` where none is. */
  readonly done: number;
  /** The checkpoint to go on from; null: the trainer is to make the first one. */
  readonly from: CheckpointRef | null;
  /** Checkpoint that samples its next cycle's plans, if that is another one. */
  readonly writer: CheckpointRef | null;
  readonly init: InitRequest;
  /** Supervised steps before the first cycle; null: none. */
  readonly warmStart: WarmStartRequest | null;
  readonly train: NightRecord['train'];
  readonly heldOut: NightRecord['heldOut'];
  /** Mean cost of a rollout in the run's last cycle, in 10⁻⁹ USD; null where none is known. */
  readonly rolloutNanoUsd: number | null;
}

export interface SamplePlansRequest extends Omit<
  GroupInput,
  'writer' | 'reward' | 'recursion' | 'run' | 'window'
> {
  readonly checkpoint: CheckpointRef;
  /** 1: each prompt shows an earlier plan and its answer, which the reply accepts or corrects. */
  readonly round: 0 | 1;
  /** Seed of this very request. */
  readonly seed: number;
  readonly maxSteps: number;
  /** Only in round 1: a place for each plan. */
  readonly earlier?: readonly { readonly plan: SampledPlan['plan']; readonly answer: Text }[];
}

export interface SamplePlansResult {
  readonly question: AskedQuestion;
  /** Store key of prompts, token ids and log-probabilities. */
  readonly samples: string;
  readonly plans: readonly SampledPlan[];
}

export interface WriteBatchRequest {
  readonly trainRun: string;
  readonly cycle: number;
  /** Checkpoint that the update continues from. */
  readonly checkpoint: CheckpointRef;
  /** Checkpoint that the plans were sampled from; default: the same. */
  readonly writer?: CheckpointRef;
  readonly temperature: number;
  /** Store keys of the groups to learn from. */
  readonly groups: readonly string[];
  /** Date of the night whose canary wrote them: the batch is to be compared, and lies beside that night. */
  readonly canary?: string;
}

export interface ForgetCheckpointsRequest {
  readonly trainRun: string;
  readonly needed: readonly CheckpointRef[];
  readonly keep: TrainingSettings['keep'];
}

export interface CloseCycleRequest extends Pick<
  CycleMetrics,
  'night' | 'cycle' | 'weightsSha256' | 'dropped' | 'update' | 'times' | 'heldOut'
> {
  /** The one that the cycle made; where it learned nothing, the one that it began with. */
  readonly checkpoint: CheckpointRef;
  /** Checkpoint that samples the next cycle's plans; null: that one. */
  readonly writer: CheckpointRef | null;
  readonly settings: TrainingSettings;
  /** Store keys of all groups, dropped ones included. */
  readonly groups: readonly string[];
}

/** A policy, and the store keys of the groups by which it was tried: one for each question and round. */
export interface Tried {
  readonly policy: PolicyRef;
  readonly groups: readonly string[];
}

/** A night's candidate, tried on the same questions with the same seeds as the policy that it must beat. */
export interface JudgeCandidateRequest {
  readonly trainRun: string;
  readonly date: string;
  readonly candidate: Tried;
  /** Whatever serves; where nothing does, the checkpoint that the night began with. */
  readonly baseline: Tried;
  readonly maxCostRatio: number | null;
  readonly margin: number;
  /** Store key of the questions. */
  readonly heldOut: string;
}

export interface GateDecision {
  readonly promoted: boolean;
  /** It is worse than its baseline beyond chance. */
  readonly isLoss: boolean;
  /** How many gate decisions used this held-out set, this one included; each later one needs stronger evidence. */
  readonly judgement: number;
  /** Questions that both could be graded on. */
  readonly pairs: number;
  /** Mean reward of the candidate less that of the baseline; null without a pair. */
  readonly gain: number | null;
  /** Lower bound of that difference; null with too few pairs for one. */
  readonly lowerBound: number | null;
  /** The smallest gain that would have been found, four times out of five; null with too few pairs. */
  readonly smallestGain: number | null;
  /** Mean cost of the candidate's rollouts in those of the baseline; null where a price is unknown. */
  readonly costRatio: number | null;
  readonly sentence: string;
}

/** A checkpoint that was just promoted, tried on some questions through the servers that now serve it. */
export interface JudgeCanaryRequest {
  readonly trainRun: string;
  readonly date: string;
  readonly promoted: Tried;
  /** Trial of the policy it replaced, on the same questions. */
  readonly replaced: Tried;
  /** Gaps between what the promoted one wrote there and the trainer's own weights; null if it wrote nothing. */
  readonly gaps: CanaryGaps | null;
}

/** Mean differences of log-probabilities of a token, question by question. */
export interface CanaryGaps {
  /** From the promoted checkpoint, and from the one that it was made of; null where that is gone. */
  readonly own: readonly number[];
  readonly parent: readonly number[] | null;
  /** Largest mean of `own`. */
  readonly tolerance: number;
}

export interface CanaryDecision {
  readonly rolledBack: boolean;
  readonly sentence: string;
}
