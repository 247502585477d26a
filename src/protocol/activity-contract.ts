import type { Plan } from '../plan/plan';
import type { Call, Problem } from './solve';
import type {
  BOOK_CALL,
  CALL_TOOL,
  CALL_WORKER,
  CHECK_ANSWER,
  CHECK_ARGUMENTS,
  CHECK_RUN,
  KEEP_TEXT,
  LIST_TOOLS,
  READ_TEXT,
  RESOLVE_RUN,
  WRITE_PLAN,
} from './names';
import type { Background, Conversation, ReviewedRound, SolveInput } from './input';
import type { ConductorCard, ResolvedRun, RunLimits, RunWorker } from './cards';
import type { ToolCard } from './tool-cards';
import type { Text } from './text';
import type {
  ChangedRequest,
  EarlierCall,
  ListedTools,
  TakenTurn,
  ToolAnswer,
  ToolRequest,
  ToolTurn,
} from './tool-use';

/** Number of requests that one model call may make; the workflow has reserved their worst-case cost. */
export interface Allowance {
  readonly requests: number;
  /** How many of them may be billed: the answered one, and one per process that may be lost mid-request. */
  readonly billable: number;
}

/** Short hash of each part of a configuration, by the part's name, e.g. `limits.costUsd`. */
export type ConfigDigest = Readonly<Record<string, string>>;

/** Task of a run, as it is shown to the Conductor and to workers. */
export interface RunTask {
  readonly question: Text;
  readonly conversation?: Conversation;
  /** JSON of the schema that the answer must fit. Of the workers, only the one that writes the answer is shown it. */
  readonly answerSchema?: Text;
}

/** What must be carried out with the store in which its run began, and is traced below the run's span. */
interface OfRun {
  readonly storeId?: string | undefined;
  readonly traceparent?: string | undefined;
}

export interface ResolveRunResult extends RunTask {
  readonly run: ResolvedRun;
  /** Identifies the configuration that it was resolved from; absent if the caller gave the run. */
  readonly config?: ConfigDigest;
}

/** Reply that was not a plan, rejected plan, or answer that does not fit, shown again with the reason. */
export interface FailedReply {
  readonly reply: Text;
  readonly problem: Problem;
}

/** Subset of a run that the Conductor's prompt and the parsing of its reply depend on. */
export interface PlanningRun {
  readonly conductor: ConductorCard;
  /** Includes prices if the Conductor is told them. */
  readonly workers: readonly (Pick<RunWorker, 'id' | 'notes'> &
    Partial<Pick<RunWorker, 'price'>> & {
      /** Tools that it may call, in the operator's words; absent if none. */
      readonly canCall?: string;
    })[];
  readonly limits: Pick<RunLimits, 'steps'>;
}

export type Reserved<Request> = Request & { readonly allowance: Allowance };

export interface WritePlanRequest extends RunTask, OfRun {
  readonly rootId: string;
  readonly round: number;
  readonly repairs: readonly FailedReply[];
  readonly run: PlanningRun;
  readonly seed?: number;
  /** The Conductor may be given steps itself; it is then the last ordinal. */
  readonly mayCallItself?: boolean;
  readonly background?: readonly Background[];
  /** Set if an earlier answer is to be accepted or improved. */
  readonly review?: ReviewedRound;
  readonly hints?: readonly string[];
  /** Set if the reply goes to the stream log as it is written. */
  readonly live?: true;
}

export interface WritePlanResult {
  /** null if the reply was not a valid plan; `problem` then says why. */
  readonly plan: Plan | null;
  readonly problem: Problem | null;
  readonly reply: Text;
  readonly calls: readonly Call[];
  readonly dropped: readonly string[];
  /** When the reply was whole; absent if no model was asked. */
  readonly endedAt?: string;
}

export interface VisibleStep {
  readonly step: number;
  readonly worker: string;
  readonly subtask: Text;
  readonly output: Text;
}

export interface WorkerRequest extends RunTask, OfRun {
  readonly rootId: string;
  /** With round, step and worker, identifies the call in place of Temporal's ids: it is the same in every run. */
  readonly identity?: string;
  readonly subtask: string;
  readonly sees: readonly VisibleStep[];
  readonly round: number;
  readonly step: number;
  readonly worker: RunWorker;
  /** Set if its text goes to the stream log as it is written. */
  readonly live?: true;
  readonly fallbackFor?: string;
  /** Another worker takes over if this one fails, so the call does not wait while this worker's circuit is open. */
  readonly hasFallback?: true;
  /** Set for models if other steps of this worker begin with the same texts, which a prompt cache may keep. */
  readonly sharesPrompt?: true;
  /** Raised after a length stop, lowered to `maxAnswerTokens`; if absent, the card's own limit holds. */
  readonly maxOutputTokens?: number;
  /** Set for a model that writes the answer, if the run has such a limit. */
  readonly maxAnswerTokens?: number;
  /** Number of the call of a user's own activity or workflow for this step; absent for the first. */
  readonly attempt?: number;
  /** Set if the worker may call tools. */
  readonly toolTurn?: ToolTurn;
  /** Set if workers before this one called tools for the step: it is told, and begins anew. */
  readonly earlierCalls?: readonly EarlierCall[];
  readonly seed?: number;
  readonly background?: readonly Background[];
  /** Set if the worker's last answer did not fit `answerSchema`. */
  readonly failed?: FailedReply;
}

/** Details of the heartbeats of a model call. */
export interface CallProgress {
  readonly writtenCharacters: number;
  /** Why the store does not take the answer, which is kept in memory until it does. */
  readonly waitsForStore?: string | undefined;
}

export interface BookedCall extends OfRun {
  readonly rootId: string;
  readonly call: Call;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface WorkerResult {
  readonly output: Text;
  /** Thoughts that the model wrote before it, between tags; absent if there were none. */
  readonly thoughts?: Text;
  /** Cut off at `maxAnswerTokens`. */
  readonly cut?: true;
  /** Set if the model asks for tools: its step goes on with their results. */
  readonly turn?: TakenTurn;
  readonly calls: readonly Call[];
  readonly dropped: readonly string[];
  readonly startedAt: string;
  readonly endedAt: string;
}

/** Side effects of a solve, by activity type. */
export interface ConductorActivities {
  /** Local: runs within the first workflow task. Checks the input, which any client may have written. */
  [RESOLVE_RUN](input: SolveInput): Promise<ResolveRunResult>;
  /** Refuses a run or cards of an invalid shape, or a run with names that are not in the configuration. Local, too. */
  [CHECK_RUN](run: ResolvedRun, cards?: readonly RunWorker[]): Promise<void>;
  [WRITE_PLAN](request: Reserved<WritePlanRequest>): Promise<WritePlanResult>;
  [CALL_WORKER](request: Reserved<WorkerRequest>): Promise<WorkerResult>;
  /** @param before tools that stay as they are, but for the caller's */
  [LIST_TOOLS](cards: readonly ToolCard[], storeId?: string, before?: ListedTools): Promise<ListedTools>;
  /** Returns what does not fit, or null. */
  [CHECK_ARGUMENTS](request: ChangedRequest): Promise<string | null>;
  [CALL_TOOL](request: ToolRequest): Promise<ToolAnswer>;
  [BOOK_CALL](booked: BookedCall): Promise<void>;
  /** Returns the result of a user's activity or workflow if it fits `answerSchema`, else throws `Answer.Invalid`. */
  [CHECK_ANSWER](checked: WorkerRequest & { readonly result: WorkerResult }): Promise<WorkerResult>;
  /** @param inlineBytes longer texts (as JSON) go to the store. Default: `INLINE_BYTES` */
  [KEEP_TEXT](text: string, inlineBytes?: number, storeId?: string): Promise<Text>;
  [READ_TEXT](text: Text, storeId?: string): Promise<string>;
}
