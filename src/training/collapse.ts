import { sumCounts } from '../evaluation/statistics';
import { counted } from '../trace/describe';
import type { CycleMetrics, TopicMetrics } from './progress';

/** Cycles that are judged together: a topic need not come up in each. */
export const COLLAPSE_CYCLES = 5;

/** Fewer plans may be alike by chance. */
const FEWEST_PLANS = 40;
/** From this share on, a shape is as good as the only one. */
const ONLY_SHAPE = 0.95;
/** Nats a token below which plans hardly differ from each other. */
const LEAST_ENTROPY = 0.005;
/** Where fewer answers are right, settling on one way is hardly because it is the best. */
const GOOD_SHARE = 0.8;

type Figures = Pick<CycleMetrics, 'cycle' | 'topics' | 'update'>;

/**
 * Why a policy seems to have stopped to try things before it was good at them, in a sentence; null where it does not. A
 * policy that is good may settle on one plan: only topics with many wrong answers are told of.
 *
 * @param cycles in a row, the latest last; as many as `COLLAPSE_CYCLES`, or there is no telling yet
 */
export function findCollapse(cycles: readonly Figures[]): string | null {
  if (cycles.length < COLLAPSE_CYCLES) return null;
  const sums = sumTopics(cycles);
  const lost = [...sums].filter(([, topic]) => hasOneShape(topic) && !isGood(topic));
  if (lost.length > 0) {
    const told = lost.map(
      ([name, topic]) => `${nameOf(name)} (${percentWrong(topic)} of the answers are wrong)`,
    );
    return `since cycle ${cycles[0]?.cycle} nearly all plans have one shape, and hardly another is tried, for ${told.join(', ')}`;
  }
  const entropies = cycles.map(({ update }) => update?.entropy ?? Infinity);
  const isAnyBad = [...sums.values()].some((topic) => topic.graded >= FEWEST_PLANS && !isGood(topic));
  if (!isAnyBad || Math.max(...entropies) >= LEAST_ENTROPY) return null;
  return `for ${counted(cycles.length, 'cycle')} the entropy of plans has been below ${LEAST_ENTROPY}: no more is tried`;
}

function sumTopics(cycles: readonly Figures[]): Map<string, TopicMetrics> {
  const sums = new Map<string, TopicMetrics>();
  for (const [name, topic] of cycles.flatMap(({ topics }) => Object.entries(topics))) {
    const sum = sums.get(name) ?? { plans: 0, shapes: {}, graded: 0, right: 0 };
    sums.set(name, {
      plans: sum.plans + topic.plans,
      shapes: sumCounts([sum.shapes, topic.shapes]),
      graded: sum.graded + topic.graded,
      right: sum.right + topic.right,
    });
  }
  return sums;
}

function hasOneShape({ plans, shapes }: TopicMetrics): boolean {
  return plans >= FEWEST_PLANS && Math.max(...Object.values(shapes)) >= ONLY_SHAPE * plans;
}

function isGood({ graded, right }: TopicMetrics): boolean {
  return right >= GOOD_SHARE * graded;
}

function nameOf(topic: string): string {
  return topic === '' ? 'questions without a topic' : topic;
}

function percentWrong({ graded, right }: TopicMetrics): string {
  return `${Math.round((100 * (graded - right)) / graded)} %`;
}
