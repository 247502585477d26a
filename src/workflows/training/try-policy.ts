import type { PolicyRef, Tried } from '../../training/evaluation';
import type { QuestionRef } from '../../training/activities';
import { meanOf } from '../../training/mean-bound';
import type { GroupResult } from '../../training/train-input';
import { groupInput } from './group-input';
import { inWindow } from './in-window';
import type { Night } from './night';
import { runGroup } from './run-group';

/**
 * Tries a policy on held-out questions, each time under the same names and seeds: two policies that write the same plan
 * get the same answers, so that their difference is their own.
 */
export async function tryPolicy(
  night: Night,
  purpose: 'evaluation' | 'canary',
  writer: PolicyRef,
  cycle: number,
  questions: readonly QuestionRef[],
): Promise<{ readonly tried: Tried; readonly meanReward: number | null }> {
  const { run, questions: side } = night.opened.settings;
  const groups = await inWindow(questions, side, (question) =>
    runGroup(
      groupInput(night, {
        purpose,
        cycle,
        draw: question.index,
        question,
        writer,
        workers: run.workers,
        side,
      }),
    ),
  );
  for (const { spentNanoUsd } of groups) night.spend(spentNanoUsd);
  const keys = groups.flatMap(({ rounds }) => rounds.map(({ key }) => key));
  return { tried: { policy: writer, groups: keys }, meanReward: meanReward(groups) };
}

/** All of them. */
export function heldOutQuestions({ opened: { heldOut } }: Night): readonly QuestionRef[] {
  return Array.from({ length: heldOut.count }, (_, index) => ({ set: heldOut.set, index }));
}

function meanReward(groups: readonly GroupResult[]): number | null {
  const rewards = groups
    .flatMap(({ rounds }) => rounds.flatMap(({ rewards }) => rewards))
    .filter((reward) => reward !== null);
  return meanOf(rewards);
}
