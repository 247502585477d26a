import type { AskedQuestion } from '../../training/activities';
import { describePolicy } from '../../training/evaluation';
import { KEEP_GROUP } from '../../training/names';
import { rewardOf, rewardOfRoot } from '../../training/reward';
import type { GroupRecord } from '../../training/rollout';
import type { GroupInput, GroupRound } from '../../training/train-input';
import { bookActivities } from './activities';
import type { Played } from './play-round';

/** One round of a group as it was played. */
export interface PlayedRound {
  readonly question: AskedQuestion;
  /** Store key; null where nothing was sampled from a policy. */
  readonly samples: string | null;
  readonly rollouts: readonly Played[];
}

/** Gives each rollout its reward, and keeps the rounds in the store; returns what the batch is chosen by. */
export async function keepRounds(
  input: GroupInput,
  rounds: readonly PlayedRound[],
): Promise<readonly GroupRound[]> {
  const rewards = rewardsOf(input, rounds);
  const kept: GroupRound[] = [];
  for (const [index, played] of rounds.entries()) {
    const round = index === 0 ? 0 : 1;
    const record = recordOf(input, round, played, rewards[index] ?? []);
    const key = await bookActivities(`keep round ${round + 1}`)[KEEP_GROUP](record);
    kept.push({ round, key, rewards: record.rollouts.map(({ reward }) => reward) });
  }
  return kept;
}

/** What each rollout of each round earns; what a second round made of a first is discounted into the first's. */
function rewardsOf(
  { reward, recursion }: GroupInput,
  [first, second]: readonly PlayedRound[],
): readonly (readonly (number | null)[])[] {
  const own = (round: PlayedRound | undefined): readonly (number | null)[] =>
    round?.rollouts.map((rollout) => rewardOf(rollout, reward)) ?? [];
  const later = own(second);
  const laterOf = new Map(second?.rollouts.map(({ root }, index) => [root, later[index] ?? null]));
  const roots = own(first).map((earned, index) => {
    const after = laterOf.get(index);
    return after === undefined ? earned : rewardOfRoot(earned, after, recursion.rootDiscount);
  });
  return [roots, later];
}

function recordOf(
  { trainRun, purpose, cycle, draw, workers, writer }: GroupInput,
  round: 0 | 1,
  { question, samples, rollouts }: PlayedRound,
  rewards: readonly (number | null)[],
): GroupRecord {
  return {
    trainRun,
    purpose,
    cycle,
    question: question.id,
    draw,
    round,
    workers: workers.map(({ id }) => id),
    checkpoint: describePolicy(writer),
    samples,
    rollouts: rollouts.map((rollout, index) => ({
      ...rollout,
      index,
      reward: rewards[index] ?? null,
    })),
  };
}
