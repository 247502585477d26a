import type { RunWorker } from '../protocol/run';
import type { Text } from '../protocol/text';
import type {
  CanaryDecision,
  CheckpointRef,
  GateDecision,
  JudgeCanaryRequest,
  JudgeCandidateRequest,
  PolicyRef,
} from './input';
import type * as names from './names';
import type { CycleMetrics } from './progress';
import type { GroupPurpose, GroupRecord, SampledPlan, Verdict } from './rollout';
import type { PolicySettings, TrainingSettings } from './settings';
import type {
  Checkpoint,
  CheckpointResult,
  CollectRequest,
  CollectResult,
  ExportRequest,
  ExportResult,
  InitRequest,
  PublishRequest,
  PublishResult,
  RetireRequest,
  RetireResult,
  UpdateRequest,
  UpdateResult,
  WarmStartRequest,
  WarmStartResult,
} from './trainer-contract';

/** Some question of a set that lies in the store, checked before anything was spent. */
export interface QuestionRef {
  /** Store key of the set. */
  readonly set: string;
  /** Its line, from 0. */
  readonly index: number;
}

/** What a night is to be. */
export interface OpenNightRequest {
  /** Default: the one that the configuration names. */
  readonly trainRun?: string;
  /** Local calendar date, e.g. `2026-11-21`. */
  readonly date: string;
  readonly cycles?: number;
  /** Checkpoint to go on from, `<training run>/<name>`; default: the run's last. */
  readonly from?: string;
}

/** A night that has claimed its cycles, and what holds for all of them. */
export interface OpenedNight {
  readonly settings: TrainingSettings;
  readonly night: { readonly date: string; readonly first: number; readonly last: number };
  /** True where the night was trained to its end before: nothing is to be done. */
  readonly isTrained: boolean;
  /** The last cycle that is over; `first - 1` where none is. */
  readonly done: number;
  /** Name, in this run or another, of the checkpoint to go on from; null: the trainer is to make the first one. */
  readonly from: { readonly trainRun: string; readonly name: string } | null;
  readonly init: InitRequest;
  /** Supervised steps before the first cycle; null: none. */
  readonly warmStart: WarmStartRequest | null;
  readonly train: { readonly set: string; readonly count: number };
  readonly heldOut: { readonly set: string; readonly count: number };
}

/** Plans to be sampled for one question. */
export interface SamplePlansRequest {
  readonly trainRun: string;
  readonly cycle: number;
  readonly draw: number;
  /** 1: each prompt shows an earlier plan and its answer, which the reply accepts or corrects. */
  readonly round: 0 | 1;
  /** Samples of different purposes are kept apart, though their cycle and draw be the same. */
  readonly purpose: GroupPurpose;
  readonly question: QuestionRef;
  readonly checkpoint: { readonly trainRun: string; readonly name: string };
  /** In the order of the prompt. */
  readonly workers: readonly RunWorker[];
  readonly maxSteps: number;
  readonly plans: number;
  readonly seed: number;
  readonly temperature: number;
  readonly policy: PolicySettings;
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
  readonly checkpoint: { readonly trainRun: string; readonly name: string };
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

/** A checkpoint that can be sampled from now on. */
export interface KeptCheckpoint {
  /** Checkpoints of any training run that are asked beside it: what serves, and what the next rollback would bring back. */
  readonly served: readonly CheckpointRef[];
}

/** A training run whose old checkpoints may go. */
export interface ForgetCheckpointsRequest {
  readonly trainRun: string;
  /** Needed by whoever asks. */
  readonly needed: readonly CheckpointRef[];
  readonly keep: TrainingSettings['keep'];
}

export interface RememberedCheckpoints {
  /** Names of the training run's checkpoints that are still known. */
  readonly kept: readonly string[];
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

/** What a cycle came to, to be summed up from its groups. */
export interface CloseCycleRequest {
  readonly night: string;
  readonly cycle: number;
  /** The one that the cycle made; where it learned nothing, the one that it began with. */
  readonly checkpoint: CheckpointRef;
  /** null where it learned nothing. */
  readonly weightsSha256: string | null;
  readonly settings: TrainingSettings;
  /** Store keys of all groups, dropped ones included. */
  readonly groups: readonly string[];
  readonly dropped: number;
  readonly update: UpdateResult['metrics'] | null;
  readonly times: CycleMetrics['times'];
  readonly heldOut: number | null;
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
  /** Keeps the manifest of a checkpoint, which can be sampled from then on, and tells what is served beside it. */
  [names.KEEP_CHECKPOINT](request: KeepCheckpointRequest): Promise<KeptCheckpoint>;
  [names.CLOSE_CYCLE](request: CloseCycleRequest): Promise<CycleMetrics>;
  [names.CLOSE_NIGHT](request: CloseNightRequest): Promise<void>;
  /** Takes the manifests of checkpoints that nobody needs out of the store: from then on nobody can come to need them. */
  [names.FORGET_CHECKPOINTS](request: ForgetCheckpointsRequest): Promise<RememberedCheckpoints>;
  /** Whoever a candidate must beat: what serves, or where nothing does, what the night began with. */
  [names.FIND_BASELINE](begun: CheckpointRef): Promise<PolicyRef>;
  /** Lets the candidate serve where it is better than what serves, and keeps the reasons. */
  [names.JUDGE_CANDIDATE](request: JudgeCandidateRequest): Promise<GateDecision>;
  /** Takes a checkpoint back that does not serve as well as it was tried. */
  [names.JUDGE_CANARY](request: JudgeCanaryRequest): Promise<CanaryDecision>;
}

/** The activities of the trainer that workflows call, by activity type. */
export interface TrainerActivities {
  [names.INIT](request: InitRequest): Promise<CheckpointResult>;
  [names.WARM_START](request: WarmStartRequest): Promise<WarmStartResult>;
  [names.UPDATE](request: UpdateRequest): Promise<UpdateResult>;
  [names.PUBLISH](request: PublishRequest): Promise<PublishResult>;
  [names.EXPORT](request: ExportRequest): Promise<ExportResult>;
  [names.RETIRE](request: RetireRequest): Promise<RetireResult>;
  [names.COLLECT](request: CollectRequest): Promise<CollectResult>;
}
