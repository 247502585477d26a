import type { ExampleSet, Plan } from '../plan/plan';
import type { Call, CallPurpose, Problem } from './call';
import { FAILURES } from './failures';
import type {
  BOOK_CALL,
  CALL_WORKER,
  CHECK_RUN,
  KEEP_TEXT,
  READ_TEXT,
  RESOLVE_RUN,
  WRITE_PLAN,
} from './names';
import type { LimitsChange } from './messages';
import type { PlanningRun, ResolvedRun, RunWorker } from './run';
import type { Text } from './text';

/** Which of the configured workers a run may use, by id. */
export interface PoolFilter {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** In what the Conductor of one run differs from the configured one. */
export interface ConductorChange {
  /** `<training run>/<name>` of the checkpoint that writes its plans. */
  readonly checkpoint?: string;
  readonly examples?: ExampleSet;
}

/** Limits of one run that replace the configured ones; null: no such limit. */
export interface LimitsInput extends Omit<LimitsChange, 'wallClockMs'> {
  /** A duration, e.g. `10m`. */
  readonly wallClock?: string;
  /** How long a plan waits for approval: a duration. */
  readonly approval?: string;
}

/** How many requests one model call may make; the workflow has set aside what they cost at worst. */
export interface Allowance {
  /** Including free and lost ones. */
  readonly requests: number;
  /** Those that may be billed: one, and one for each time the process may be lost in mid-request. */
  readonly billable: number;
}

export interface ResolveRunRequest {
  readonly question: Text;
  readonly pool?: PoolFilter;
  readonly limits?: LimitsInput;
  /** In place of what is configured. */
  readonly run?: ResolvedRun;
  readonly conductor?: ConductorChange;
}

/** A short hash of each part of a configuration, by the name of the part, e.g. `limits.costUsd`. */
export type ConfigDigest = Readonly<Record<string, string>>;

export interface ResolveRunResult {
  readonly run: ResolvedRun;
  /** Tells which configuration it was resolved from; absent where the caller gave the run. */
  readonly config?: ConfigDigest;
  /** By reference if it is long. */
  readonly question: Text;
}

/** A reply of the Conductor that was no plan, or a plan that a person rejected; shown to it again with the reason. */
export interface FailedReply {
  readonly reply: Text;
  readonly problem: Problem;
}

export type Reserved<Request> = Request & { readonly allowance: Allowance };

export interface WritePlanRequest {
  /** Workflow id of the solve that a person asked for. */
  readonly rootId: string;
  readonly question: Text;
  readonly round: number;
  /** Oldest first. */
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
  /** Every attempt of this call, the last one answered. */
  readonly calls: readonly Call[];
  readonly dropped: readonly string[];
}

export interface VisibleStep {
  readonly step: number;
  readonly worker: string;
  readonly subtask: Text;
  readonly output: Text;
}

/** Request to one worker: the whole question, what it may see, and its own subtask. */
export interface WorkerRequest {
  readonly rootId: string;
  /** With round, step and worker names the call in place of Temporal's ids, so that it is the same call in every run. */
  readonly identity?: string;
  readonly question: Text;
  readonly subtask: string;
  readonly sees: readonly VisibleStep[];
  readonly round: number;
  readonly step: number;
  readonly worker: RunWorker;
  /** The planned worker's id, when this one stands in for it. */
  readonly fallbackFor?: string;
  /** Another worker stands in should this one fail, so it need not be waited for while its circuit is open. */
  readonly hasFallback?: true;
  /** Set for models: other steps of this worker begin with the same texts, which a prompt cache may keep. */
  readonly sharesPrompt?: true;
  /** Raised after a length stop; otherwise the card's own limit holds. */
  readonly maxOutputTokens?: number;
  /** Counts the calls of a user's own activity or workflow for one step; absent for the first. */
  readonly attempt?: number;
  readonly seed?: number;
  readonly background?: readonly Background[];
}

/** A call of a user's own activity or workflow, for the ledger. */
export interface BookedCall {
  readonly rootId: string;
  readonly call: Call;
  readonly startedAt: string;
  /** null before it begins. */
  readonly endedAt: string | null;
}

export interface WorkerResult {
  readonly output: Text;
  readonly calls: readonly Call[];
  readonly dropped: readonly string[];
  readonly startedAt: string;
  readonly endedAt: string;
}

/** The side effects of a solve, by activity type. */
export interface ConductorActivities {
  /** Local: it runs within the first workflow task. */
  [RESOLVE_RUN](request: ResolveRunRequest): Promise<ResolveRunResult>;
  /** Refuses a run of an input that names what the configuration does not. Local, too. */
  [CHECK_RUN](run: ResolvedRun): Promise<void>;
  [WRITE_PLAN](request: Reserved<WritePlanRequest>): Promise<WritePlanResult>;
  [CALL_WORKER](request: Reserved<WorkerRequest>): Promise<WorkerResult>;
  [BOOK_CALL](booked: BookedCall): Promise<void>;
  /** @param inlineBytes what is longer as JSON goes to the store. Default: `INLINE_BYTES` */
  [KEEP_TEXT](text: string, inlineBytes?: number): Promise<Text>;
  [READ_TEXT](text: Text): Promise<string>;
}

/** An earlier text that every call of a child may see: an output that its parent's plan showed it, or the first answer. */
export interface Background {
  /** null for the answer that a review is about. */
  readonly subtask: Text | null;
  readonly output: Text;
}

export interface ReviewedRound {
  readonly plan: Plan;
  readonly answer: Text;
}

/** Data that a solve passes to a solve that it starts. */
export interface Parent {
  readonly rootId: string;
  /** Depth of the child, from 1. */
  readonly depth: number;
  /** Number of the child's first plan: 0 for a step, one more than the reviewed round's for a review. */
  readonly round: number;
  /** Index of the step of the parent's plan that the child is for; absent for a review. */
  readonly step?: number;
  /** The resolved configuration, its limits cut to what the child may use. */
  readonly run: ResolvedRun;
  readonly background: readonly Background[];
  readonly review?: ReviewedRound;
  readonly hints: readonly string[];
}

/** Whether a plan is that of the configuration, which the Conductor is not asked for: the first one, in no review. */
export function takesConfigured({
  run,
  repairs,
  review,
}: Pick<WritePlanRequest, 'run' | 'repairs' | 'review'>): boolean {
  return run.conductor.plan !== undefined && review === undefined && repairs.length === 0;
}

/** Purpose of a call of the Conductor. A plan that a person rejected is written anew, not repaired. */
export function purposeOf({ repairs, review }: Pick<WritePlanRequest, 'repairs' | 'review'>): CallPurpose {
  if (repairs.at(-1)?.problem.type === FAILURES.planInvalid) return 'repair';
  return review === undefined ? 'plan' : 'review';
}
