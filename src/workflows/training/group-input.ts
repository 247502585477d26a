import type { QuestionRef } from '../../training/activities';
import type { PolicyRef } from '../../training/evaluation';
import type { RunWorker } from '../../protocol/run';
import type { GroupInput } from '../../training/train-input';
import type { Night } from './night';

/** The part of a group's input that differs between the groups of a night. */
export interface GroupWish {
  readonly purpose: GroupInput['purpose'];
  readonly cycle: number;
  readonly draw: number;
  readonly question: QuestionRef;
  readonly writer: PolicyRef;
  /** In the order of the prompt. */
  readonly workers: readonly RunWorker[];
  /** Groups that may be under way together: each is given as much of what is left as the others. */
  readonly side: number;
}

/**
 * A group as a night asks for it: within its own limits, and within its part of what the night may still use. To learn,
 * plans are sampled as training wants them; to try a policy, as it would serve.
 */
export function groupInput(night: Night, { side, ...wish }: GroupWish): GroupInput {
  const { settings } = night.opened;
  const { trainRun, seed, policy, reward, window, slots, recursion, run } = settings;
  const isTrial = wish.purpose !== 'training';
  const { nanoUsd, wallClockMs } = run.limits;
  const left = night.remainingNanoUsd();
  const most = Math.min(nanoUsd ?? Infinity, left === null ? Infinity : Math.floor(left / side));
  return {
    ...wish,
    trainRun,
    seed,
    plans: isTrial ? settings.gate.samples : settings.groupSize,
    temperature: isTrial ? policy.servingTemperature : policy.temperature,
    policy,
    reward,
    window,
    isApart: slots !== null,
    recursion: isTrial ? { ...recursion, rounds: 1 } : recursion,
    run: {
      ...run,
      limits: {
        ...run.limits,
        nanoUsd: most === Infinity ? null : most,
        // A night is judged after its time as well.
        wallClockMs: isTrial ? wallClockMs : Math.max(1, Math.min(wallClockMs, night.remainingMs())),
      },
    },
  };
}
