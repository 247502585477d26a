import { randomFrom } from '../evaluation/chance';
import { groupBy } from '../evaluation/statistics';
import type { ImitationSettings } from './config/schema';
import type { Example, RightPlans, Rollout } from './records';

// The first cycles of a run may imitate its own right plans instead of learning from rewards: where most groups hold no
// right plan, GRPO learns above all to avoid replies that are no plan. Later ones may do so again, since right plans of
// thousands of questions teach more than the rewards of one cycle. This is filtered imitation, as in STaR (arXiv 2203.14465)
// and ReST (arXiv 2308.08998); the paper has GRPO alone.

/** Questions with right plans from which on topics count alike. */
const ENOUGH = 20;

/** Questions with right plans that are drawn from, the latest ones: earlier plans are those of a poorer policy. */
export const LATEST = 4000;

/** Optimizer steps by which a cycle of a run imitates; 0 where it learns from rewards. */
export function imitationSteps(imitation: ImitationSettings | undefined, cycle: number): number {
  if (imitation === undefined) return 0;
  const { cycles, steps, again } = imitation;
  if (cycle <= cycles) return steps;
  return again !== undefined && (cycle - cycles) % again.every === 0 ? again.steps : 0;
}

/** The right plans of a group that earned most: where length or cost counts, the shorter or cheaper ones. */
export function bestRight<Each extends Pick<Rollout, 'verdict' | 'reward'>>(group: readonly Each[]): Each[] {
  const right = group.filter(({ verdict }) => verdict === 'correct');
  const most = Math.max(...right.map(({ reward }) => reward ?? 0));
  return right.filter(({ reward }) => (reward ?? 0) === most);
}

/**
 * Draws the examples of a cycle. For each of the run's own, a topic is drawn first, then a question of it, then one of its
 * right plans: a hard topic counts as much as an easy one. While few questions of a topic had right plans, these may be luck,
 * and the topic is drawn less often. In the first cycles, examples of the warm start keep the policy trying other plans.
 *
 * @param warm examples of the warm start
 * @param seed of the run
 */
export function drawExamples(
  own: readonly RightPlans[],
  warm: readonly Example[],
  imitation: ImitationSettings,
  seed: number,
  cycle: number,
): Example[] {
  const random = randomFrom('imitation', seed, cycle);
  const { cycles, batch, warmStartShare } = imitation;
  const topics = [...groupBy(own.slice(-LATEST), ({ topic }) => topic).values()];
  // A topic has one place for each of its questions, up to the bound.
  const places = topics.flatMap((topic) => topic.slice(0, ENOUGH).map(() => topic));
  const count = imitationSteps(imitation, cycle) * batch;
  const kept = cycle <= cycles ? Math.round(count * warmStartShare) : 0;
  const drawn = Array.from({ length: count - kept }, () => {
    const { prompt, completions } = pick(pick(places, random), random);
    return { prompt, completion: pick(completions, random) };
  });
  return [...drawn, ...Array.from({ length: kept }, () => pick(warm, random))];
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('Nothing can be drawn from an empty list.');
  return item;
}
