import type { ResolvedRun } from '../protocol/run';

/** What a run was resolved to by a version that knew fewer limits, as a history that is replayed may still hold it. */
type RecordedRun = Omit<ResolvedRun, 'limits' | 'recursion' | 'queuePerProvider'> & {
  readonly limits: Pick<ResolvedRun['limits'], 'steps' | 'wallClockMs'> & Partial<ResolvedRun['limits']>;
} & Partial<Pick<ResolvedRun, 'recursion' | 'queuePerProvider'>>;

/** Fills in what the recording does not say: such a run had no limits but steps and time, and never called itself. */
export function completeRun(recorded: RecordedRun): ResolvedRun {
  const unlimited = { depth: 0, calls: Number.MAX_SAFE_INTEGER, tokens: null, nanoUsd: null, approvalMs: 0 };
  return {
    recursion: 'never',
    queuePerProvider: false,
    ...recorded,
    limits: { ...unlimited, ...recorded.limits },
  };
}
