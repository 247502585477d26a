import type { Plan } from '../plan/plan';
import type { Call, Problem } from './solve';
import type {
  BOOK_CALL,
  CALL_WORKER,
  CHECK_ANSWER,
  CHECK_RUN,
  KEEP_TEXT,
  READ_TEXT,
  RESOLVE_RUN,
  WRITE_PLAN,
} from './names';
import type { Background, Conversation, ReviewedRound, SolveInput } from './input';
import type { ConductorCard, ResolvedRun, RunLimits, RunWorker } from './cards';
import type { Text } from './text';

/** How many requests one model call may make; the workflow has set aside what they cost at worst. */
export interface Allowance {
  readonly requests: number;
  /** Those that may be billed: one, and one for each time the process may be lost in mid-request. */
  readonly billable: number;
}

/** A short hash of each part of a configuration, by the name of the part, e.g. `limits.costUsd`. */
export type ConfigDigest = Readonly<Record<string, string>>;

/** What a run was asked, as it is shown to the Conductor and to workers. */
export interface Asked {
  readonly question: Text;
  readonly conversation?: Conversation;
  /** JSON of the schema that the answer must fit. A worker is shown it where its step gives the answer. */
  readonly answerSchema?: Text;
}

export interface ResolveRunResult extends Asked {
  readonly run: ResolvedRun;
  /** Tells which configuration it was resolved from; absent where the caller gave the run. */
  readonly config?: ConfigDigest;
}

/** A reply that was no plan, a plan that a person rejected, or an answer that does not fit; shown again with the reason. */
export interface FailedReply {
  readonly reply: Text;
  readonly problem: Problem;
}

/** The part of a run that the Conductor's prompt and the reading of its reply depend on. */
export interface PlanningRun {
  readonly conductor: ConductorCard;
  /** With their prices where the Conductor is told them. */
  readonly workers: readonly (Pick<RunWorker, 'id' | 'notes'> & Partial<Pick<RunWorker, 'price'>>)[];
  readonly limits: Pick<RunLimits, 'steps'>;
}

export type Reserved<Request> = Request & { readonly allowance: Allowance };

export interface WritePlanRequest extends Asked {
  readonly rootId: string;
  readonly round: number;
  readonly repairs: readonly FailedReply[];
  readonly run: PlanningRun;
  readonly seed?: number;
  /** The Conductor may be given steps itself: it is the last ordinal. */
  readonly mayCallItself?: boolean;
  readonly background?: readonly Background[];
  /** Set where an earlier answer is to be accepted or improved. */
  readonly review?: ReviewedRound;
  readonly hints?: readonly string[];
}

export interface WritePlanResult {
  /** null when the reply was no valid plan; `problem` then says why. */
  readonly plan: Plan | null;
  readonly problem: Problem | null;
  readonly reply: Text;
  readonly calls: readonly Call[];
  readonly dropped: readonly string[];
}

export interface VisibleStep {
  readonly step: number;
  readonly worker: string;
  readonly subtask: Text;
  readonly output: Text;
}

export interface WorkerRequest extends Asked {
  readonly rootId: string;
  /** With round, step and worker names the call in place of Temporal's ids, so that it is the same call in every run. */
  readonly identity?: string;
  readonly subtask: string;
  readonly sees: readonly VisibleStep[];
  readonly round: number;
  readonly step: number;
  readonly worker: RunWorker;
  /** Set where its text goes to the stream log as it is written. */
  readonly live?: true;
  readonly fallbackFor?: string;
  /** Another worker stands in should this one fail, so it need not be waited for while its circuit is open. */
  readonly hasFallback?: true;
  /** Set for models: other steps of this worker begin with the same texts, which a prompt cache may keep. */
  readonly sharesPrompt?: true;
  /** Raised after a length stop, lowered to `maxAnswerTokens`; otherwise the card's own limit holds. */
  readonly maxOutputTokens?: number;
  /** Set for a model that writes the answer, where the run has such a limit. */
  readonly maxAnswerTokens?: number;
  /** Counts the calls of a user's own activity or workflow for one step; absent for the first. */
  readonly attempt?: number;
  readonly seed?: number;
  readonly background?: readonly Background[];
  /** Set where the worker's last answer did not fit `answerSchema`. */
  readonly failed?: FailedReply;
}

export interface BookedCall {
  readonly rootId: string;
  readonly call: Call;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface WorkerResult {
  readonly output: Text;
  /** Cut off at `maxAnswerTokens`. */
  readonly cut?: true;
  readonly calls: readonly Call[];
  readonly dropped: readonly string[];
  readonly startedAt: string;
  readonly endedAt: string;
}

/** The side effects of a solve, by activity type. */
export interface ConductorActivities {
  /** Local: it runs within the first workflow task. Checks the input, which any client may have written. */
  [RESOLVE_RUN](input: SolveInput): Promise<ResolveRunResult>;
  /** Refuses a run, or cards beside it, of another shape, and what the configuration does not name. Local, too. */
  [CHECK_RUN](run: ResolvedRun, cards?: readonly RunWorker[]): Promise<void>;
  [WRITE_PLAN](request: Reserved<WritePlanRequest>): Promise<WritePlanResult>;
  [CALL_WORKER](request: Reserved<WorkerRequest>): Promise<WorkerResult>;
  [BOOK_CALL](booked: BookedCall): Promise<void>;
  /** Gives the result of a user's own activity or workflow back where it fits `answerSchema`, or throws `Answer.Invalid`. */
  [CHECK_ANSWER](checked: WorkerRequest & { readonly result: WorkerResult }): Promise<WorkerResult>;
  /** @param inlineBytes what is longer as JSON goes to the store. Default: `INLINE_BYTES` */
  [KEEP_TEXT](text: string, inlineBytes?: number): Promise<Text>;
  [READ_TEXT](text: Text): Promise<string>;
}
