/** Update `setLimits`: what is named changes, the rest stays; null lifts a limit. */
export interface LimitsChange {
  readonly steps?: number;
  readonly depth?: number | null;
  readonly calls?: number;
  readonly tokens?: number | null;
  readonly costUsd?: number | null;
  /** Milliseconds, counted from the start of the run. */
  readonly wallClockMs?: number;
}

/**
 * The answer to `setLimits`: what now holds. A limit is never lower than what is spent or promised to calls under way,
 * so that it is kept whatever happens; nothing more is begun then.
 */
export interface HeldLimits {
  readonly steps: number;
  readonly depth: number | null;
  readonly calls: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly wallClockMs: number;
}

/** Update `rejectPlan`. */
export interface PlanRejection {
  /** What the Conductor is told before it writes another plan. */
  readonly reason: string;
}
