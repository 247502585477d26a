import type { ConductorCard, ExternalCard, ModelCard } from '../pool/card';

/** A member of the pool as a run holds it. */
export type RunWorker = ModelCard | ExternalCard;

/**
 * The configuration one run keeps from its first Conductor call to its end, whatever changes on disk meanwhile.
 * Keys are never in it, only the names of environment variables.
 */
export interface ResolvedRun {
  readonly conductor: ConductorCard;
  /** The workers this run may use, in the order of the configuration: the index is the plan's ordinal. */
  readonly workers: readonly RunWorker[];
  readonly limits: { readonly steps: number; readonly wallClockMs: number };
  /** How soon a lost worker process is noticed, and a cancellation heard. */
  readonly heartbeatMs: number;
}
