import { randomFrom } from '../evaluation/chance';
import { groupBy } from '../evaluation/statistics';
import type { ImitationSettings } from './config/schema';
import type { RightPlans } from './records';

// The first cycles of a run may imitate its own right plans in place of learning from rewards: where most groups hold no
// right plan, GRPO learns above all from what was no plan. This is filtered imitation, as in STaR (arXiv 2203.14465) and
// ReST (arXiv 2308.08998), and the product's own; the paper has GRPO alone.

/** Questions with right plans from which on topics count alike. */
const ENOUGH = 20;

export interface ImitatedExample {
  readonly prompt: string;
  readonly completion: string;
}

/** Whether a cycle of a run imitates; the later ones learn from rewards. */
export function isImitating(imitation: ImitationSettings | undefined, cycle: number): boolean {
  return cycle <= (imitation?.cycles ?? 0);
}

/**
 * The examples of a cycle: for each of the run's own a topic is drawn, then a question of it, then one of its right plans, so
 * that what is rarely right counts as much as what is easy; but as long as few of a topic's questions had one, such a plan may
 * be luck, and is not repeated more often than others. Those of the warm start keep the policy trying other plans.
 *
 * @param warm examples of the warm start
 * @param key names the draw
 */
export function drawExamples(
  own: readonly RightPlans[],
  warm: readonly ImitatedExample[],
  { steps, batch, warmStartShare }: ImitationSettings,
  ...key: readonly (string | number)[]
): ImitatedExample[] {
  const random = randomFrom('imitation', ...key);
  const topics = [...groupBy(own, ({ topic }) => topic).values()];
  // So many places of a draw for each topic.
  const places = topics.flatMap((topic) => topic.slice(0, ENOUGH).map(() => topic));
  const kept = Math.round(steps * batch * warmStartShare);
  const drawn = Array.from({ length: steps * batch - kept }, () => {
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
