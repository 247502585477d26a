import { CancellationScope } from '@temporalio/workflow';
import { chooseGroups, type GroupChoice } from '../../training/choose-groups';
import { drawQuestions } from '../../training/draw-questions';
import { drawWorkers } from '../../training/draw-workers';
import { hasSpread } from '../../training/spread';
import type { GroupInput, GroupResult } from '../../training/train-input';
import { groupInput } from './group-input';
import type { Night } from './night';
import { runGroup } from './run-group';

/** The groups of a cycle in the order of their draws, and what can be learned from. */
export interface PlayedCycle {
  readonly groups: readonly GroupResult[];
  /** Store keys of the rounds to learn from. */
  readonly learnable: readonly string[];
  /** Groups that taught nothing. */
  readonly dropped: number;
}

/**
 * Draws questions and plays their groups until enough have a spread, or as many were drawn as may be.
 *
 * What is drawn depends on the seed and on what the groups came to, never on which of them was done first.
 *
 * @throws ChildWorkflowFailure when a group failed; the others are stopped before that
 */
export function playCycle(night: Night, cycle: number): Promise<PlayedCycle> {
  return CancellationScope.cancellable(async () => {
    const groups: (GroupResult | null)[] = [];
    const underWay = new Set<Promise<void>>();
    try {
      for (;;) {
        const choice = choose(night, groups);
        for (const input of inputsOf(night, cycle, groups.length, choice.more)) {
          groups.push(null);
          const played = runGroup(input).then((result) => {
            groups[input.draw] = result;
            underWay.delete(played);
            if (result.stoppedBy === 'cost' && isNightsShare(night, input)) night.runShort();
          });
          underWay.add(played);
        }
        if (choice.isOver) return sumUp(night, groups, choice);
        await Promise.race(underWay);
      }
    } catch (error) {
      CancellationScope.current().cancel();
      await CancellationScope.nonCancellable(() => Promise.allSettled(underWay));
      throw error;
    }
  });
}

function choose(night: Night, groups: readonly (GroupResult | null)[]): GroupChoice {
  const { questions, maxDraws } = night.opened.settings;
  const spreads = groups.map((group) => group && learnableIn(group).length > 0);
  return chooseGroups({ wanted: questions, maxDraws, spreads });
}

/** Whether it is the night that keeps a group from spending more, and not the limit that every group has. */
function isNightsShare({ opened }: Night, { run }: GroupInput): boolean {
  return run.limits.nanoUsd !== opened.settings.run.limits.nanoUsd;
}

/** The rounds of a group whose rewards differ. */
function learnableIn({ rounds }: GroupResult): readonly string[] {
  return rounds.filter(({ rewards }) => hasSpread(rewards)).map(({ key }) => key);
}

function inputsOf(night: Night, cycle: number, from: number, more: number): GroupInput[] {
  const { settings, train } = night.opened;
  const { seed, questions, pool, run } = settings;
  const drawn = drawQuestions({ seed, count: train.count, questions, cycle }, from + more).slice(from);
  return drawn.map((index, place) => {
    const draw = from + place;
    return groupInput(night, {
      purpose: 'training',
      cycle,
      draw,
      question: { set: train.set, index },
      writer: night.checkpoint,
      workers: drawWorkers(run.workers, { seed, cycle, draw, pool }),
      side: questions,
    });
  });
}

function sumUp(night: Night, drawn: readonly (GroupResult | null)[], { keep }: GroupChoice): PlayedCycle {
  const groups = drawn.filter((group) => group !== null);
  for (const { spentNanoUsd } of groups) night.spend(spentNanoUsd);
  return {
    groups,
    learnable: groups.filter(({ draw }) => keep.includes(draw)).flatMap(learnableIn),
    dropped: groups.length - keep.length,
  };
}
