import type { Verdict } from '../grading/grade';
import type { ResolvedRun, RunWorker } from '../protocol/run';
import type { Text } from '../protocol/text';
import type { CheckpointRef, PolicyRef } from './checkpoint-ref';
import type * as names from './names';
import type { CycleMetrics, GroupPart, NightProgress, Span } from './progress';
import type { NightRecord } from './records';
import type { GroupId, GroupRecord, SampledPlan } from './rollout';
import type { TrainingSettings } from './settings';
import type {
  Checkpoint,
  InitRequest,
  TrainerMessage,
  UpdateRequest,
  WarmStartRequest,
} from './trainer-contract';

// What goes in and out of training's workflows, and then of its activities.

/** The one argument of workflow `conductorTrain`: one night. Everything else is read from the worker's configuration. */
export interface TrainInput {
  /** Set by the workflow itself where it goes on in a new run. */
  readonly carried?: CarriedNight;
  /** Default: the one that the configuration names. */
  readonly trainRun?: string;
  /** Local calendar date that the night counts as; default: of the time that it was scheduled for. */
  readonly date?: string;
  /** Where that calendar holds, e.g. `Europe/Berlin`; default UTC. */
  readonly timeZone?: string;
  /** Default: as many as configured. */
  readonly cycles?: number;
  /** Checkpoint to go on from, `<training run>/<name>`; default: the run's last. */
  readonly from?: string;
}

/** What a night that goes on in a new run of its workflow must not forget. */
export interface CarriedNight extends Pick<NightProgress, 'done' | 'rewards' | 'best' | 'warning'> {
  readonly opened: OpenedNight;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The checkpoint that it began with, and the one that it has now. */
  readonly begun: CheckpointRef;
  readonly checkpoint: CheckpointRef;
  readonly spentNanoUsd: number;
  readonly budget: TrainingSettings['budget'];
  readonly isPaused: boolean;
}

/** What the rest of a night may use; null: no such limit. */
export interface NightBudget {
  readonly costUsd?: number | null;
  readonly hours?: number;
}

/** The one argument of workflow `conductorTrainGroup`. */
export interface GroupInput
  extends
    Omit<GroupId, 'question'>,
    Pick<TrainingSettings, 'seed' | 'policy' | 'reward' | 'recursion' | 'window'> {
  readonly question: QuestionRef;
  /** Who writes the plans. */
  readonly writer: PolicyRef;
  readonly plans: number;
  readonly temperature: number;
  /** In the order of the prompt. */
  readonly workers: readonly RunWorker[];
  /** Its limits are those of the whole group; `steps` is of one plan. */
  readonly run: ResolvedRun;
  /** It waits in the queue of groups, where they have slots of their own. */
  readonly isApart: boolean;
}

/** One round of a group, as its workflow reports it: what the batch is chosen by. */
export interface GroupRound {
  readonly round: 0 | 1;
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
}

/** The one argument of workflow `conductorWarmStart`: a base model, the examples, and how the checkpoint is asked. */
export interface WarmStartInput extends Pick<OpenedNight, 'init' | 'settings'> {
  readonly warmStart: NonNullable<OpenedNight['warmStart']>;
}

/** The one argument of workflow `conductorExportCheckpoint`. */
export interface ExportInput extends TrainerMessage<'exportRequest'> {
  /** Where the trainer listens, how soon its loss is noticed, and after which time it is given up. */
  readonly taskQueue: string;
  readonly heartbeatMs: number;
  readonly timeoutMs: number;
}

/** What an input names beside the worker that it came to. */
export interface NamedPlaces {
  /** Base URL. */
  readonly policyServer?: string;
  readonly trainerQueue?: string;
}

/** A question of a set that lies in the store. */
export interface QuestionRef {
  /** Store key of the set. */
  readonly set: string;
  /** Its line, from 0. */
  readonly index: number;
}

export interface OpenNightRequest extends Pick<TrainInput, 'trainRun' | 'cycles' | 'from'> {
  /** Local, e.g. `2026-11-21`. */
  readonly date: string;
}

/** A night that has claimed its cycles, and what holds for all of them. */
export interface OpenedNight {
  readonly settings: TrainingSettings;
  readonly night: Pick<NightRecord, 'date' | 'first' | 'last'>;
  /** True where it was trained to its end before: there is nothing to do. */
  readonly isTrained: boolean;
  /** The last cycle that is over; `first - 1` where none is. */
  readonly done: number;
  /** The checkpoint to go on from; null: the trainer is to make the first one. */
  readonly from: CheckpointRef | null;
  readonly init: InitRequest;
  /** Supervised steps before the first cycle; null: none. */
  readonly warmStart: WarmStartRequest | null;
  readonly train: NightRecord['train'];
  readonly heldOut: NightRecord['heldOut'];
}

/** Plans to be sampled for one question. */
export interface SamplePlansRequest extends Omit<
  GroupInput,
  'writer' | 'reward' | 'recursion' | 'run' | 'window' | 'isApart'
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

export interface AskedQuestion {
  readonly id: string;
  readonly text: Text;
}

export interface SamplePlansResult {
  readonly question: AskedQuestion;
  /** Store key of prompts, token ids and log-probabilities. */
  readonly samples: string;
  readonly plans: readonly SampledPlan[];
}

export interface GradeAnswersRequest {
  readonly question: QuestionRef;
  /** null: there is no answer. */
  readonly answers: readonly (Text | null)[];
}

export interface WriteBatchRequest {
  readonly trainRun: string;
  readonly cycle: number;
  readonly checkpoint: CheckpointRef;
  readonly temperature: number;
  /** Store keys of the groups to learn from. */
  readonly groups: readonly string[];
}

export type StoredBatch = UpdateRequest['batch'] & { readonly rollouts: number };

export interface KeepCheckpointRequest {
  readonly checkpoint: Checkpoint;
  /** What requests to the policy server call it. */
  readonly model: string;
  readonly settings: TrainingSettings;
}

export interface KeptCheckpoint {
  /** Checkpoints of any training run that are asked beside it: what serves, and what the next rollback would bring back. */
  readonly served: readonly CheckpointRef[];
}

export interface ForgetCheckpointsRequest {
  readonly trainRun: string;
  /** By the caller. */
  readonly needed: readonly CheckpointRef[];
  readonly keep: TrainingSettings['keep'];
}

export interface RememberedCheckpoints {
  /** Names of the training run's checkpoints that are still known. */
  readonly kept: readonly string[];
}

/** What a cycle came to, to be summed up from its groups. */
export interface CloseCycleRequest extends Pick<
  CycleMetrics,
  'night' | 'cycle' | 'weightsSha256' | 'dropped' | 'update' | 'times' | 'heldOut'
> {
  /** The one that the cycle made; where it learned nothing, the one that it began with. */
  readonly checkpoint: CheckpointRef;
  readonly settings: TrainingSettings;
  /** Store keys of all groups, dropped ones included. */
  readonly groups: readonly string[];
}

export interface CloseNightRequest extends Pick<NightRecord, 'trainRun' | 'date' | 'done' | 'decision'> {
  /** What the next night goes on from. */
  readonly checkpoint: CheckpointRef;
}

/** A policy, and the store keys of the groups in which it was tried: one for each question and round. */
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

/** A checkpoint that was just promoted, tried on some questions through the servers that now serve it. */
export interface JudgeCanaryRequest {
  readonly trainRun: string;
  readonly date: string;
  readonly promoted: Tried;
  /** What it replaced, on the same questions. */
  readonly replaced: Tried;
  /** Largest difference of a log-probability on the probe, and how much it may be. */
  readonly probe: { readonly logprobGap: number; readonly tolerance: number };
}

export interface CanaryDecision {
  readonly rolledBack: boolean;
  readonly sentence: string;
}

/** The side effects of training, by activity type. */
export interface TrainingActivities {
  /** Refuses places that the configuration does not name. Local: it runs within a workflow task. */
  readonly [names.CHECK_PLACES]: (places: NamedPlaces) => Promise<void>;
  [names.OPEN_NIGHT](request: OpenNightRequest): Promise<OpenedNight>;
  [names.READ_QUESTION](question: QuestionRef): Promise<AskedQuestion>;
  [names.SAMPLE_PLANS](request: SamplePlansRequest): Promise<SamplePlansResult>;
  [names.GRADE_ANSWERS](request: GradeAnswersRequest): Promise<readonly Verdict[]>;
  /** Returns the key. */
  [names.KEEP_GROUP](group: GroupRecord): Promise<string>;
  [names.WRITE_BATCH](request: WriteBatchRequest): Promise<StoredBatch>;
  [names.KEEP_CHECKPOINT](request: KeepCheckpointRequest): Promise<KeptCheckpoint>;
  [names.CLOSE_CYCLE](request: CloseCycleRequest): Promise<CycleMetrics>;
  [names.CLOSE_NIGHT](request: CloseNightRequest): Promise<void>;
  [names.FORGET_CHECKPOINTS](request: ForgetCheckpointsRequest): Promise<RememberedCheckpoints>;
  [names.FIND_BASELINE](begun: CheckpointRef): Promise<PolicyRef>;
  [names.JUDGE_CANDIDATE](request: JudgeCandidateRequest): Promise<GateDecision>;
  [names.JUDGE_CANARY](request: JudgeCanaryRequest): Promise<CanaryDecision>;
}
