import type { Plan } from '../plan/plan';
import type { Call, Problem } from './call';
import type { CALL_WORKER, KEEP_TEXT, READ_TEXT, WRITE_PLAN } from './names';
import type { ResolvedRun, RunWorker } from './run';
import type { Text } from './text';

/** Which of the configured workers a run may use. */
export interface PoolFilter {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Limits of one run, where they shall be narrower than the configured ones. */
export interface LimitsInput {
  readonly steps?: number;
  /** A duration, e.g. `10m`. */
  readonly wallClock?: string;
}

/** A reply of the Conductor that was no plan, shown to it again with what was wrong. */
export interface FailedReply {
  readonly reply: Text;
  readonly problem: Problem;
}

export interface WritePlanRequest {
  readonly question: Text;
  readonly round: number;
  /** Oldest first; empty for the first attempt. */
  readonly repairs: readonly FailedReply[];
  /** Absent in the first call of a run, which resolves it. */
  readonly run?: ResolvedRun;
  readonly pool?: PoolFilter;
  readonly limits?: LimitsInput;
  readonly seed?: number;
}

export interface WritePlanResult {
  /** null when the reply was no valid plan; `problem` then says why. */
  readonly plan: Plan | null;
  readonly problem: Problem | null;
  readonly reply: Text;
  /** Every attempt of this call, the last one answered. */
  readonly calls: readonly Call[];
  readonly dropped: readonly string[];
  /** Only in the answer to a request that had none. */
  readonly run?: ResolvedRun;
  /** The question, by reference if it is long. Only beside `run`. */
  readonly question?: Text;
}

/** A step's output as a later step is shown it. */
export interface VisibleStep {
  readonly step: number;
  readonly worker: string;
  readonly subtask: string;
  readonly output: Text;
}

/** What one worker is given: the whole question, what it may see, and its own subtask. */
export interface WorkerRequest {
  readonly question: Text;
  readonly subtask: string;
  readonly sees: readonly VisibleStep[];
  readonly round: number;
  readonly step: number;
  readonly worker: RunWorker;
  /** The planned worker's id, when this one stands in for it. */
  readonly fallbackFor?: string;
  /** Raised after a length stop; else the card's own limit holds. */
  readonly maxOutputTokens?: number;
  readonly seed?: number;
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
  [WRITE_PLAN](request: WritePlanRequest): Promise<WritePlanResult>;
  [CALL_WORKER](request: WorkerRequest): Promise<WorkerResult>;
  /** Puts a long text into the store. */
  [KEEP_TEXT](text: string): Promise<Text>;
  /** Loads a text whole. */
  [READ_TEXT](text: Text): Promise<string>;
}
