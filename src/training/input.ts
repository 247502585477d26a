import type { ResolvedRun, RunWorker } from '../protocol/run';
import type { OpenedNight, QuestionRef } from './contract';
import type { NightProgress } from './progress';
import type { GroupId } from './rollout';
import type { PolicySettings, RewardSettings, TrainingSettings } from './settings';
import type { Span } from './summarize-cycle';

/** The one argument of workflow `train`: one night. Everything else is read from the worker's configuration. */
export interface TrainInput {
  /** Set by the workflow itself where it goes on in a new run. */
  readonly carried?: CarriedNight;
  /** Default: the one that the configuration names. */
  readonly trainRun?: string;
  /** Local calendar date that the night counts as; default: of the time it was scheduled for. */
  readonly date?: string;
  /** Where that calendar holds, e.g. `Europe/Berlin`; default UTC. */
  readonly timeZone?: string;
  /** How many cycles, where it shall not be as many as configured. */
  readonly cycles?: number;
  /** Checkpoint to go on from, `<training run>/<name>`; default: the run's last. */
  readonly from?: string;
}

/** What a night that goes on in a new run of its workflow must not forget. */
export interface CarriedNight {
  readonly opened: OpenedNight;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** What it began with. */
  readonly begun: CheckpointRef;
  /** What it has come to. */
  readonly checkpoint: CheckpointRef;
  readonly done: number;
  readonly spentNanoUsd: number;
  readonly rewards: readonly number[];
  readonly best: NightProgress['best'];
  readonly warning: NightProgress['warning'];
  readonly budget: TrainingSettings['budget'];
  readonly isPaused: boolean;
}

/** What a night was told while it ran; null: no such limit. */
export interface NightBudget {
  readonly costUsd?: number | null;
  readonly hours?: number;
}

/** A checkpoint, by training run and name. */
export interface CheckpointRef {
  readonly trainRun: string;
  readonly name: string;
}

/** What a group is made of. The one argument of workflow `trainGroup`. */
export interface GroupInput extends Omit<GroupId, 'question'> {
  readonly question: QuestionRef;
  /** Who writes the plans. */
  readonly writer: PolicyRef;
  readonly plans: number;
  /** Seed of the sampling request. */
  readonly seed: number;
  readonly temperature: number;
  readonly policy: PolicySettings;
  readonly reward: RewardSettings;
  readonly recursion: { readonly rounds: 1 | 2; readonly rootDiscount: number };
  /** In the order of the prompt. */
  readonly workers: readonly RunWorker[];
  /** Its limits are those of the whole group; `steps` is of one plan. */
  readonly run: ResolvedRun;
  /** Rollouts that run at once. */
  readonly window: number;
  /** It waits in the queue of groups, where they have slots of their own. */
  readonly isApart: boolean;
}

/** One round of a group, as its workflow reports it: what it comes to in the batch, everything else in the store. */
export interface GroupRound {
  readonly round: 0 | 1;
  /** Store key of its record. */
  readonly key: string;
  readonly rewards: readonly (number | null)[];
}

/** The parts of a group's work. */
export type GroupPart = 'sampling' | 'rollouts' | 'grading';

export interface GroupResult {
  readonly draw: number;
  readonly rounds: readonly GroupRound[];
  readonly spentNanoUsd: number;
  readonly spans: readonly Span<GroupPart>[];
  /** Set where a limit stopped it before all its rollouts were over. */
  readonly stoppedBy: string | null;
}

/** Whoever writes plans: a checkpoint, or the Conductor of `conductor.yaml` as it is prompted, which is no checkpoint. */
export type PolicyRef = CheckpointRef | 'prompted';

/** How a policy is called in sentences and records: `<training run>/<name>`, or `the prompted Conductor`. */
export function describePolicy(policy: PolicyRef): string {
  return policy === 'prompted' ? 'the prompted Conductor' : `${policy.trainRun}/${policy.name}`;
}

/** A policy, and the store keys of the groups in which it was tried: one for each question and round. */
export interface Tried {
  readonly policy: PolicyRef;
  readonly groups: readonly string[];
}

/** Two policies tried on the same questions with the same seeds: one that may serve, and the one to be beaten. */
export interface PairedEvaluation {
  readonly candidate: Tried;
  /** Whatever serves; where nothing does, the checkpoint that the night began with. */
  readonly baseline: Tried;
}

/** A night's candidate, to be judged. */
export interface JudgeCandidateRequest extends PairedEvaluation {
  readonly trainRun: string;
  /** The night, as a local calendar date. */
  readonly date: string;
  readonly maxCostRatio: number;
}

/** What the gate decided, in figures and in one sentence that prints them. */
export interface GateDecision {
  readonly promoted: boolean;
  /** Questions that both could be graded on. */
  readonly pairs: number;
  /** Mean reward of the candidate less that of the baseline; null without a pair. */
  readonly gain: number | null;
  /** Lower 95 % bound of that difference; null with too few pairs for one. */
  readonly lowerBound: number | null;
  /** Mean cost of the candidate's rollouts in those of the baseline; null where a price is unknown. */
  readonly costRatio: number | null;
  readonly sentence: string;
}

/** How many held-out questions a checkpoint that was just promoted is tried on again. */
export const CANARY_QUESTIONS = 20;

/** A checkpoint that was just promoted, tried on some questions through the servers that now serve it. */
export interface JudgeCanaryRequest {
  readonly trainRun: string;
  readonly date: string;
  /** The one that serves now. */
  readonly promoted: Tried;
  /** What it replaced, on the same questions: its groups of the evaluation do. */
  readonly replaced: Tried;
  /** Largest difference of a log-probability on the probe, and how much it may be. */
  readonly probe: { readonly logprobGap: number; readonly tolerance: number };
}

export interface CanaryDecision {
  readonly rolledBack: boolean;
  readonly sentence: string;
}

/** Questions of the canary, the same in every night. */
export function canaryQuestions(set: string, count: number): readonly QuestionRef[] {
  const stride = Math.max(1, Math.floor(count / CANARY_QUESTIONS));
  const indices = Array.from({ length: Math.min(count, CANARY_QUESTIONS) }, (_, place) => place * stride);
  return indices.map((index) => ({ set, index }));
}

/** What the trainer does for a person, beside the nights: the arguments of its workflows. */

/** The one argument of workflow `warmStart`: a base model, the examples, and what the checkpoint is to be asked by. */
export interface WarmStartInput extends Pick<OpenedNight, 'init' | 'settings'> {
  readonly warmStart: NonNullable<OpenedNight['warmStart']>;
}

/** The one argument of workflow `exportCheckpoint`. */
export interface ExportInput {
  readonly checkpoint: CheckpointRef;
  /** As the trainer's machine sees it: not there yet, or empty. */
  readonly directory: string;
  /** Where the trainer listens. */
  readonly taskQueue: string;
  /** How soon a lost trainer is noticed. */
  readonly heartbeatMs: number;
  /** After which nobody waits for it any more. */
  readonly timeoutMs: number;
}
