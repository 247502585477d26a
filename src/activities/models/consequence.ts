import { FAILURES, type FailureType } from '../../protocol/failures';

/** The failure types of the boundary between us and a provider. */
export type ProviderFailureType = Extract<FailureType, `Provider.${string}`>;

/** What follows from a failure: who tries again, who pays, and what a person can do. */
export interface Consequence {
  /** True where Temporal tries again behind the workflow's back. */
  readonly retryable: boolean;
  /** Whether the provider charges for it. Never `unknown` or `yes` where Temporal tries again. */
  readonly billed: 'no' | 'unknown' | 'yes';
  /** One sentence. */
  readonly remedy: string;
}

/** The law of `protocol/failures.ts` as a table. */
export const CONSEQUENCES: Readonly<Record<ProviderFailureType, Consequence>> = {
  [FAILURES.rateLimited]: {
    retryable: true,
    billed: 'no',
    remedy: 'Wait, send less at once, or ask the provider for a higher rate.',
  },
  [FAILURES.unavailable]: {
    retryable: true,
    billed: 'no',
    remedy: 'Check that the server runs and that baseUrl is right; nothing was billed.',
  },
  [FAILURES.timeout]: {
    retryable: false,
    billed: 'unknown',
    remedy: "Raise the worker's time-out or choose a faster model; the call may have been billed.",
  },
  [FAILURES.interrupted]: {
    retryable: false,
    billed: 'unknown',
    remedy: 'Check the network and any proxy on the way; the call may have been billed.',
  },
  [FAILURES.badResponse]: {
    retryable: false,
    billed: 'unknown',
    remedy:
      "Check that baseUrl is the API's root and that the server speaks this API; the call may have been billed.",
  },
  [FAILURES.truncated]: {
    retryable: false,
    billed: 'yes',
    remedy: "Raise the worker's maxOutputTokens or lower its effort.",
  },
  [FAILURES.refused]: {
    retryable: false,
    billed: 'yes',
    remedy: 'Give the step to another worker or name one as fallback.',
  },
  [FAILURES.badRequest]: {
    retryable: false,
    billed: 'no',
    remedy: "Correct the worker's model, baseUrl or settings in conductor.yaml.",
  },
  [FAILURES.authentication]: {
    retryable: false,
    billed: 'no',
    remedy: "Set the key's variable and start again.",
  },
  [FAILURES.quotaExceeded]: {
    retryable: false,
    billed: 'no',
    remedy: "Add credit or raise the account's limit, then start again.",
  },
};
