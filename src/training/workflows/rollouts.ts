import { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { inWindow } from '../../workflows/parts';
import { CANNOT_LEARN, checkpointId, type CheckpointRef } from '../names';
import type { GroupResult, GroupRound } from '../contract';
import { chooseGroups, drawQuestions, drawWorkers, type GroupOptions } from '../draw';
import { imitationSteps } from '../imitation';
import { learnableParts, materialSpread } from '../rewards';
import type { TrainingSettings } from '../config/resolve';
import { samplePlansFor } from './group';
import type { Night } from './night';

export interface CycleRollouts {
  readonly writer: CheckpointRef;
  readonly groups: readonly GroupResult[];
  readonly learnable: readonly string[];
  readonly dropped: number;
}

/**
 * Rollouts of a night: run when their cycle begins, or with `staleness: 1` during the update of the cycle before.
 * Rollouts begun ahead are learned from, whatever else ends the night; only its failure drops them.
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
    // A failure ahead is reported by its own cycle.
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

/** Runs groups until enough can be learned from. While the budget lasts, draws never depend on completion order. */
function playGroups(night: Night, cycle: number, writer: CheckpointRef): Promise<CycleRollouts> {
  const { settings } = night.state.opened;
  return CancellationScope.cancellable(async () => {
    const drawn: (GroupResult | null)[] = [];
    const underWay = new Set<Promise<void>>();
    try {
      for (;;) {
        const isEnough = (group: GroupResult): boolean =>
          imitationSteps(settings.imitation, cycle) > 0 || learnableIn(group, settings).length > 0;
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
        // Also reached when the budget is used up.
        if (underWay.size === 0) {
          const groups = drawn.filter((group) => group !== null);
          const learnable = groups
            .filter(({ draw }) => keep.includes(draw))
            .flatMap((group) => learnableIn(group, settings));
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

/** Returns `more` groups of a cycle, from draw `from` on. */
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

type Learning = Pick<TrainingSettings, 'keepFlat' | 'reward'>;

function learnableIn({ rounds }: GroupResult, settings: Learning): readonly string[] {
  return rounds.filter((round) => isLearnable(round, settings)).map(({ key }) => key);
}

function isLearnable({ rewards, outcomes, baselines }: GroupRound, { keepFlat, reward }: Learning): boolean {
  const compared = rewards.map((earned, index) => ({
    reward: earned,
    outcome: outcomes?.[index],
    baseline: baselines?.[index],
  }));
  return learnableParts(compared, { keepFlat, material: materialSpread(reward) }).length > 0;
}

/**
 * Samples the plans of a training run's first questions before any worker is paid. The samples are kept, and the first
 * cycle carries them out, so that nothing is sampled twice.
 * @throws ApplicationFailure if too few replies are plans: rewards would only teach the format, at the price of a night
 */
export async function requirePlans(night: Night): Promise<void> {
  const { opened, writer } = night.state;
  const { settings, night: claimed } = opened;
  const { minFormatRate, questions } = settings;
  if (!minFormatRate || opened.done > 0) return;
  night.phase = 'are there plans?';
  const drawn = drawGroups(night, { cycle: claimed.first, writer }, 0, questions);
  const replies = await inWindow(drawn, questions, async (options) => {
    const input = night.tracedInput(options, { nanoUsd: null, wallClockMs: MAX_WALL_CLOCK_MS });
    return (await samplePlansFor(input, writer, null)).plans;
  });
  const plans = replies.flat();
  const valid = plans.filter(({ plan }) => plan !== null).length;
  if (valid >= minFormatRate * plans.length) return;
  const percent = Math.round((100 * valid) / plans.length);
  const message =
    `only ${valid} of ${plans.length} replies (${percent} %) of ${checkpointId(writer)} are plans, and ` +
    `training.minFormatRate is ${minFormatRate}: no worker was asked. Give it examples to begin with, "temporal-conductor ` +
    'train examples --from-prompted", then "temporal-conductor train warm-start"; or lower training.minFormatRate';
  throw ApplicationFailure.nonRetryable(message, CANNOT_LEARN);
}
