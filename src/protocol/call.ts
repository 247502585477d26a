/** Purpose of a model call. `review`: the Conductor reads an earlier answer. */
export type CallPurpose = 'plan' | 'repair' | 'step' | 'review';

/** Tokens as the provider counted them; cached, written and reasoning tokens are parts of input and output. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /** Input written to the provider's cache, which may cost more than other input; absent where none was. */
  readonly cacheWriteTokens?: number;
  /** The part of those that Anthropic keeps for an hour instead of five minutes. */
  readonly hourCacheWriteTokens?: number;
  /** The vendor's word for how it served the request, e.g. `flex`, `batch`; absent for the usual tier. */
  readonly serviceTier?: string;
}

/** A failure as the trace shows it: a type of `failures.ts` and one sentence, free of secrets. */
export interface Problem {
  readonly type: string;
  readonly message: string;
}

/** One request to a model, answered or not. The ledger holds one such row per attempt. */
export interface Call {
  /** SHA-256 over workflow id, run id, activity id and the canonical request: the same for each attempt. */
  readonly callId: string;
  readonly purpose: CallPurpose;
  readonly round: number;
  /** Index of the step in its plan; null for a call of the Conductor itself. */
  readonly step: number | null;
  /** Counted from 1 under this call id. */
  readonly attempt: number;
  readonly worker: string;
  readonly model: string;
  /** Absent for the run's own calls. */
  readonly childId?: string;
  readonly error: Problem | null;
  /** null while unknown: the request may have been billed, but nothing says how much. */
  readonly usage: Usage | null;
  /** 10⁻⁹ USD; null while unknown, 0 only where nothing was billed. */
  readonly nanoUsd: number | null;
  /** Charge reported by the provider, if it was too low to be believed and the price was booked. */
  readonly reportedNanoUsd?: number;
}
