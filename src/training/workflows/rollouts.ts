import { CancellationScope } from '@temporalio/workflow';
import type { CheckpointRef } from '../names';
import type { GroupResult, GroupRound } from '../contract';
import { chooseGroups, drawQuestions, drawWorkers, type GroupOptions } from '../draw';
import { imitationSteps } from '../imitation';
import { learnableParts } from '../rewards';
import type { Night } from './night';

export interface CycleRollouts {
  readonly writer: CheckpointRef;
  readonly groups: readonly GroupResult[];
  readonly learnable: readonly string[];
  readonly dropped: number;
}

/**
 * The rollouts of a night: played when their cycle begins, or with `staleness: 1` while the trainer makes the checkpoint
 * before. What has begun ahead is learned from, whatever ends the night then; only its failure drops it.
 */
export class Rollouts {
  private ahead: { readonly scope: CancellationScope; readonly played: Promise<CycleRollouts> } | null = null;

  constructor(private readonly night: Night) {}

  get areAhead(): boolean {
    return this.ahead !== null;
  }

  begin(cycle: number): void {
    if (!this.night.mayGoAhead(cycle)) return;
    const scope = new CancellationScope();
    const played = scope.run(() => playGroups(this.night, cycle, this.night.state.checkpoint));
    this.ahead = { scope, played };
    // Leaves a failure ahead to its own cycle.
    played.catch(() => undefined);
  }

  async whenOver(): Promise<void> {
    await this.ahead?.played.catch(() => undefined);
  }

  /** @throws ChildWorkflowFailure when a group failed, after the others were stopped */
  of(cycle: number): Promise<CycleRollouts> {
    const { ahead, night } = this;
    this.ahead = null;
    return ahead?.played ?? playGroups(night, cycle, night.state.writer);
  }

  async drop(): Promise<void> {
    this.ahead?.scope.cancel();
    await CancellationScope.nonCancellable(() => this.whenOver());
  }
}

/** Plays groups until enough can be learned from. What is drawn never depends on which was done first, while there is money. */
function playGroups(night: Night, cycle: number, writer: CheckpointRef): Promise<CycleRollouts> {
  const { settings } = night.state.opened;
  return CancellationScope.cancellable(async () => {
    const drawn: (GroupResult | null)[] = [];
    const underWay = new Set<Promise<void>>();
    try {
      for (;;) {
        const isEnough = (group: GroupResult): boolean =>
          imitationSteps(settings.imitation, cycle) > 0 || learnableIn(group, settings.keepFlat).length > 0;
        const spreads = drawn.map((group) => group && isEnough(group));
        const { keep, more } = chooseGroups(settings, spreads);
        for (const options of drawGroups(night, { cycle, writer }, drawn.length, more)) {
          const group = night.startGroup(options, settings.questions);
          if (group === null) break;
          drawn.push(null);
          const played = group.then((result) => {
            drawn[options.draw] = result;
            underWay.delete(played);
          });
          underWay.add(played);
        }
        // Also where the money is used up.
        if (underWay.size === 0) {
          const groups = drawn.filter((group) => group !== null);
          const learnable = groups
            .filter(({ draw }) => keep.includes(draw))
            .flatMap((group) => learnableIn(group, settings.keepFlat));
          return { writer, groups, learnable, dropped: groups.length - keep.length };
        }
        await Promise.race(underWay);
      }
    } catch (error) {
      CancellationScope.current().cancel();
      await CancellationScope.nonCancellable(() => Promise.allSettled(underWay));
      throw error;
    }
  });
}

/** The groups of a cycle from one draw on, so many of them. */
export function drawGroups(
  night: Night,
  { cycle, writer }: Pick<GroupOptions, 'cycle' | 'writer'>,
  from: number,
  more: number,
): GroupOptions[] {
  const { settings, train } = night.state.opened;
  const { seed, questions, pool, run } = settings;
  const drawn = drawQuestions({ seed, topics: train.topics, questions, cycle }, from + more).slice(from);
  return drawn.map((index, place) => {
    const draw = from + place;
    const workers = drawWorkers(run.workers, { seed, cycle, draw, pool });
    const question = { set: train.set, index };
    return { purpose: 'training', cycle, draw, question, writer, workers };
  });
}

function learnableIn({ rounds }: GroupResult, keepFlat: boolean): readonly string[] {
  return rounds.filter((round) => isLearnable(round, keepFlat)).map(({ key }) => key);
}

function isLearnable({ rewards, baselines }: GroupRound, keepFlat: boolean): boolean {
  const compared = rewards.map((reward, index) => ({ reward, baseline: baselines?.[index] }));
  return learnableParts(compared, keepFlat).length > 0;
}
