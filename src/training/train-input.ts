import type { ResolvedRun, RunWorker } from '../protocol/run';
import type { GroupId } from './rollout';
import type { Span } from './spans';
import type { NightProgress } from './progress';
import type { PolicySettings, RewardSettings, TrainingSettings } from './training-settings';
import type { OpenedNight, QuestionRef } from './activities';
import type { PolicyRef } from './evaluation';

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
