import type { Verdict } from '../grading/grade';
import type { ResolvedRun, RunWorker } from '../protocol/run';
import type { Text } from '../protocol/text';
import type { CheckpointRef, PolicyRef } from './checkpoint-ref';
import type * as names from './names';
import type { CycleMetrics, GroupPart, NightProgress, Span } from './progress';
import type { GroupId, GroupRecord, SampledPlan } from './rollout';
import type { PolicySettings, RewardSettings, TrainingSettings } from './settings';
import type { Checkpoint, InitRequest, UpdateMetrics, WarmStartRequest } from './trainer-contract';

// What goes in and out of training's workflows, and then of its activities.

/** The one argument of workflow `conductorTrain`: one night. Everything else is read from the worker's configuration. */
export interface TrainInput {
  /** Set by the workflow itself where it goes on in a new run. */
  readonly carried?: CarriedNight;
  /** Default: the one that the configuration names. */
  readonly trainRun?: string;
  /** Local calendar date that the night counts as; default: of the time it was scheduled for. */
  readonly date?: string;
  /** Where that calendar holds, e.g. `Europe/Berlin`; default UTC. */
  readonly timeZone?: string;
  /** How many cycles, instead of as many as configured. */
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

/** What a group is made of. The one argument of workflow `conductorTrainGroup`. */
export interface GroupInput extends Omit<GroupId, 'question'> {
  readonly question: QuestionRef;
  /** Who writes the plans. */
  readonly writer: PolicyRef;
  readonly plans: number;
  /** Seed of the training run. */
  readonly seed: number;
  readonly temperature: number;
  readonly policy: PolicySettings;
  readonly reward: RewardSettings;
  readonly recursion: TrainingSettings['recursion'];
  /** In the order of the prompt. */
  readonly workers: readonly RunWorker[];
  /** Its limits are those of the whole group; `steps` is of one plan. */
  readonly run: ResolvedRun;
  /** Rollouts that run at once. */
  readonly window: number;
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
export interface ExportInput {
  readonly checkpoint: CheckpointRef;
  /** As the trainer's machine sees it: not there yet, or empty. */
  readonly directory: string;
  /** Where the trainer listens. */
  readonly taskQueue: string;
  /** How soon a lost trainer is noticed. */
  readonly heartbeatMs: number;
  /** After which it is given up. */
  readonly timeoutMs: number;
}

/** A question of a set that lies in the store, checked before anything was spent. */
export interface QuestionRef {
  /** Store key of the set. */
  readonly set: string;
  /** Its line, from 0. */
  readonly index: number;
}

/** A whole set of questions in the store. */
interface QuestionSetRef {
  /** Store key. */
  readonly set: string;
  readonly count: number;
}

/** Which night to open; its date is a local one, e.g. `2026-11-21`. */
export interface OpenNightRequest extends Pick<TrainInput, 'trainRun' | 'cycles' | 'from'> {
  readonly date: string;
}

/** A night that has claimed its cycles, and what holds for all of them. */
export interface OpenedNight {
  readonly settings: TrainingSettings;
  readonly night: { readonly date: string; readonly first: number; readonly last: number };
  /** True where the night was trained to its end before: there is nothing to do. */
  readonly isTrained: boolean;
  /** The last cycle that is over; `first - 1` where none is. */
  readonly done: number;
  /** The checkpoint to go on from; null: the trainer is to make the first one. */
  readonly from: CheckpointRef | null;
  readonly init: InitRequest;
  /** Supervised steps before the first cycle; null: none. */
  readonly warmStart: WarmStartRequest | null;
  readonly train: QuestionSetRef;
  readonly heldOut: QuestionSetRef;
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

/** A question as a rollout needs it. */
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

export interface StoredBatch {
  readonly key: string;
  readonly sha256: string;
  readonly rollouts: number;
}

/** A checkpoint that a policy server has loaded, to be kept with how it must be asked. */
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

/** A training run whose old checkpoints may go, all but those that the caller needs. */
export interface ForgetCheckpointsRequest {
  readonly trainRun: string;
  readonly needed: readonly CheckpointRef[];
  readonly keep: TrainingSettings['keep'];
}

export interface RememberedCheckpoints {
  /** Names of the training run's checkpoints that are still known. */
  readonly kept: readonly string[];
}

/** What a cycle came to, to be summed up from its groups. */
export interface CloseCycleRequest extends Pick<CycleMetrics, 'night' | 'cycle' | 'times' | 'heldOut'> {
  /** The one that the cycle made; where it learned nothing, the one that it began with. */
  readonly checkpoint: CheckpointRef;
  /** null where it learned nothing. */
  readonly weightsSha256: string | null;
  readonly settings: TrainingSettings;
  /** Store keys of all groups, dropped ones included. */
  readonly groups: readonly string[];
  readonly dropped: number;
  readonly update: UpdateMetrics | null;
}

/** A night that is over. */
export interface CloseNightRequest {
  readonly trainRun: string;
  readonly date: string;
  /** The last cycle that is over; `first - 1` where none is. */
  readonly done: number;
  /** What the next night goes on from. */
  readonly checkpoint: CheckpointRef;
  /** What the gate decided, in one sentence; null where it was not asked. */
  readonly decision: string | null;
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
  [names.OPEN_NIGHT](request: OpenNightRequest): Promise<OpenedNight>;
  [names.READ_QUESTION](question: QuestionRef): Promise<AskedQuestion>;
  [names.SAMPLE_PLANS](request: SamplePlansRequest): Promise<SamplePlansResult>;
  [names.GRADE_ANSWERS](request: GradeAnswersRequest): Promise<readonly Verdict[]>;
  /** Keeps a group, and returns its key. */
  [names.KEEP_GROUP](group: GroupRecord): Promise<string>;
  [names.WRITE_BATCH](request: WriteBatchRequest): Promise<StoredBatch>;
  /** Keeps the manifest of a checkpoint, which can be sampled from then on, and returns what is served beside it. */
  [names.KEEP_CHECKPOINT](request: KeepCheckpointRequest): Promise<KeptCheckpoint>;
  [names.CLOSE_CYCLE](request: CloseCycleRequest): Promise<CycleMetrics>;
  [names.CLOSE_NIGHT](request: CloseNightRequest): Promise<void>;
  /** Takes the manifests of checkpoints that no one needs out of the store: from then on no one can come to need them. */
  [names.FORGET_CHECKPOINTS](request: ForgetCheckpointsRequest): Promise<RememberedCheckpoints>;
  /** What a candidate must beat: what serves, or where nothing does, what the night began with. */
  [names.FIND_BASELINE](begun: CheckpointRef): Promise<PolicyRef>;
  /** Lets the candidate serve where it is better than what serves, and keeps the reasons. */
  [names.JUDGE_CANDIDATE](request: JudgeCandidateRequest): Promise<GateDecision>;
  /** Takes a checkpoint back that does not serve as well as it was tried. */
  [names.JUDGE_CANARY](request: JudgeCanaryRequest): Promise<CanaryDecision>;
}
