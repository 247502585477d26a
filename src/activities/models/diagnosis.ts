import type { ProviderFailureType } from './consequence';

/** What went wrong, before it is put into a sentence. */
export interface Diagnosis {
  readonly type: ProviderFailureType;
  /** What the provider did, to follow its name: `answered 401`. */
  readonly happened: string;
  /** The provider's or the system's own words: may hold a key. */
  readonly reason: string;
  /** When the provider wants to be asked again, in milliseconds; absent or null where it did not say. */
  readonly nextRetryDelayMs?: number | null;
  /** The provider asks not to be asked again. */
  readonly final?: boolean;
  /** What a person can do, where it is not what usually helps against this type: one sentence. */
  readonly remedy?: string;
  /** Whether it was charged, where that is surer than what the type tells. */
  readonly billed?: 'no';
}
