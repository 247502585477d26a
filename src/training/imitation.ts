import { randomFrom } from '../statistics/chance';
import { groupBy } from '../statistics/tally';
import type { ImitationSettings } from './config/schema';
import type { TrainingExample, RightPlans, Rollout } from './records';

// The first cycles of a run may imitate its own right plans instead of learning from rewards: if most groups hold no
// right plan, GRPO mainly learns to avoid malformed replies. Later cycles may imitate again, since right plans of
// thousands of questions teach more than the rewards of one cycle. This is filtered imitation, as in STaR (arXiv
// 2203.14465) and ReST (arXiv 2308.08998); the paper uses GRPO alone.

/** Number of questions with right plans that a topic needs to be drawn as often as any other. */
const ENOUGH = 20;

/** Number of latest questions with right plans to draw from; earlier plans are those of a poorer policy. */
export const LATEST = 4000;

/** Returns the optimizer steps by which a cycle imitates; 0 if it learns from rewards. */
export function imitationSteps(imitation: ImitationSettings | undefined, cycle: number): number {
  if (imitation === undefined) return 0;
  const { cycles, steps, again } = imitation;
  if (cycle <= cycles) return steps;
  return again !== undefined && (cycle - cycles) % again.every === 0 ? again.steps : 0;
}

/** Returns a group's right plans with the highest reward: the shortest or cheapest, if length or cost counts. */
export function bestRight<Each extends Pick<Rollout, 'verdict' | 'reward'>>(group: readonly Each[]): Each[] {
  const right = group.filter(({ verdict }) => verdict === 'correct');
  const most = Math.max(...right.map(({ reward }) => reward ?? 0));
  return right.filter(({ reward }) => (reward ?? 0) === most);
}

/**
 * Draws the examples of a cycle. For each of the run's own, a topic is drawn first, then one of its questions, then one
 * of its right plans, so a hard topic counts as much as an easy one. A topic with few such questions is drawn less
 * often: their right plans may be luck. In the first cycles, warm-start examples keep the policy exploring.
 *
 * @param warm examples of the warm start
 * @param seed seed of the training run
 */
export function drawExamples(
  own: readonly RightPlans[],
  warm: readonly TrainingExample[],
  imitation: ImitationSettings,
  seed: number,
  cycle: number,
): TrainingExample[] {
  const random = randomFrom('imitation', seed, cycle);
  const { cycles, batch, warmStartShare } = imitation;
  const topics = [...groupBy(own.slice(-LATEST), ({ topic }) => topic).values()];
  // Repeats each topic once per question, up to `ENOUGH` times.
  const places = topics.flatMap((topic) => topic.slice(0, ENOUGH).map(() => topic));
  const count = imitationSteps(imitation, cycle) * batch;
  const kept = cycle <= cycles ? Math.round(count * warmStartShare) : 0;
  const drawn = Array.from({ length: count - kept }, () => {
    const plans = pick(pick(places, random), random);
    return { ...promptOf(plans), completion: pick(plans.completions, random) };
  });
  return [...drawn, ...Array.from({ length: kept }, () => pick(warm, random))];
}

/** Returns the prompt of an example, or of right plans, in either form. */
export function promptOf(
  each: TrainingExample | RightPlans,
): Pick<Extract<TrainingExample, { messages: unknown }>, 'messages'> | { readonly prompt: string } {
  return 'messages' in each ? { messages: each.messages } : { prompt: each.prompt };
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError('Nothing can be drawn from an empty list.');
  return item;
}
