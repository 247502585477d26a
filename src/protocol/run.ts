import type { ConductorCard, ExternalCard, ModelCard } from '../pool/card';

/** A member of the pool as a run holds it. */
export type RunWorker = ModelCard | ExternalCard;

/** What a run and everything below it may use; null: no such limit. */
export interface RunLimits {
  /** Of one plan. */
  readonly steps: number;
  readonly wallClockMs: number;
  /** How deep the Conductor may call itself; 0: not at all. */
  readonly depth: number | null;
  /** Requests to models, free ones included. Never unlimited: a result with more would not fit a payload. */
  readonly calls: number;
  /** Input and output. */
  readonly tokens: number | null;
  /** 10⁻⁹ USD. */
  readonly nanoUsd: number | null;
  /** How long a plan waits for a person's approval. */
  readonly approvalMs: number;
}

/** How the Conductor may call itself while depth remains: to review an answer, as a worker of its plan, or both. */
export type Recursion = 'review' | 'worker' | 'both' | 'never';

/**
 * The configuration one run keeps from its first Conductor call to its end, whatever changes on disk meanwhile.
 * Keys are never in it, only the names of environment variables.
 */
export interface ResolvedRun {
  readonly conductor: ConductorCard;
  /** The workers this run may use, in the order of the configuration: the index is the plan's ordinal. */
  readonly workers: readonly RunWorker[];
  readonly limits: RunLimits;
  readonly recursion: Recursion;
  /** How soon a lost worker process is noticed, and a cancellation heard. */
  readonly heartbeatMs: number;
  /** Calls of a model go to `<task queue>-<provider>` instead of the run's own queue. */
  readonly queuePerProvider: boolean;
}
