import type { GroupInput } from './inputs';
import type { GroupResult } from './contract';
import type { TrainingSettings } from './config/resolve';

/** The part of a group's input that does not hold for a whole night. */
export type GroupOptions = Pick<GroupInput, 'purpose' | 'cycle' | 'draw' | 'question' | 'writer' | 'workers'>;

/**
 * The input of a group, within its own limits and what else it may use. Plans to learn from are sampled as in training; all
 * others, as a policy serves.
 */
export function groupInput(
  { trainRun, seed, policy, reward, window, recursion, run, verifier, gate, groupSize }: TrainingSettings,
  options: GroupOptions,
  { nanoUsd, wallClockMs }: { readonly nanoUsd: number | null; readonly wallClockMs: number },
): GroupInput {
  const { purpose } = options;
  const isTrial = purpose === 'evaluation' || purpose === 'canary';
  const { limits } = run;
  const most = Math.min(limits.nanoUsd ?? Infinity, nanoUsd ?? Infinity);
  return {
    ...options,
    trainRun,
    seed,
    plans: isTrial ? gate.samples : groupSize,
    temperature: purpose === 'training' ? policy.temperature : policy.servingTemperature,
    policy,
    reward,
    window,
    recursion,
    ...(verifier !== undefined && { verifier }),
    run: {
      ...run,
      limits: {
        ...limits,
        nanoUsd: most === Infinity ? null : most,
        wallClockMs: Math.max(1, Math.min(limits.wallClockMs, wallClockMs)),
      },
    },
  };
}

/** Whether a group's share of a common budget was too small, though its own limits would have allowed more. */
export function lackedMoney(settings: TrainingSettings, { run }: GroupInput, result: GroupResult): boolean {
  return result.stoppedBy === 'cost' && run.limits.nanoUsd !== settings.run.limits.nanoUsd;
}
