import {
  bestReview,
  everyPlan,
  findOptimum,
  kindOf,
  type Optimum,
  optimumFor,
  rewardOfPlan,
} from '../world/optimum';
import { SMALL_WORLD, topicOf, WHOLE_WORLD, withWorkers } from '../world/world';

const whole = findOptimum(WHOLE_WORLD);

/** Returns one line per topic: steps as `worker:kind`, with `*` if a step sees all earlier ones. */
function bestPlans({ topics }: Optimum): string[] {
  return topics.map(({ topic, best }) => {
    const steps = best.plan.steps.map(
      ({ worker, subtask, sees }) => `${worker}:${kindOf(subtask)}${sees.length > 0 ? '*' : ''}`,
    );
    return `${topic} ${steps.join(' > ')} ${best.chance.toFixed(4)}`;
  });
}

test('the whole world needs a different team for each topic', () => {
  expect(bestPlans(whole)).toEqual([
    'trivia quick:solve 0.9500',
    'algebra maths:solve > critic:verify* 0.8680',
    'law critic:solve > writer:refine* 0.8900',
    'code writer:plan > coder:solve* > critic:verify* 0.8446',
  ]);
  expect(whole.chance).toBeCloseTo(0.8882, 4);
  expect(whole.reward).toBeCloseTo(0.9441, 4);
});

test('neither a single worker nor random plans come near the optimum', () => {
  expect(whole.bestWorker).toBeCloseTo(0.425, 6);
  expect(whole.random).toBeLessThan(0.3);
  expect(whole.topics.map(({ single }) => single.chance)).toEqual([0.95, 0.6, 0.5, 0.5]);
});

test('the small world also needs a different team for each topic', () => {
  const small = findOptimum(SMALL_WORLD);
  expect(bestPlans(small)).toEqual([
    'trivia quick:solve 0.9500',
    'algebra maths:solve > critic:verify* 0.8680',
  ]);
  expect(small.bestWorker).toBeCloseTo(0.625, 6);
});

test.each([SMALL_WORLD, WHOLE_WORLD])(
  'no single plan for all topics of the $name world comes near the optimum',
  (world) => {
    const { reward } = findOptimum(world);
    const best = Math.max(
      ...Array.from(everyPlan(world), ({ plan }) =>
        mean(world.topics.map((topic) => rewardOfPlan(world, topic, plan))),
      ),
    );
    expect(best / reward).toBeLessThan(0.93);
  },
);

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

test('every plan is valued once: all workers and kinds, with later steps that see all earlier ones or none', () => {
  const plans = Array.from(everyPlan(SMALL_WORLD));
  // Three workers and four kinds; a first step sees nothing, a later one sees nothing or all earlier steps.
  const [first, later] = [3 * 4, 3 * 4 * 2];
  expect(SMALL_WORLD.maxSteps).toBe(2);
  expect(new Set(plans.map(({ plan }) => JSON.stringify(plan))).size).toBe(first + first * later);
  expect(plans.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 10);
  expect(plans.at(-1)?.share).toBeCloseTo(1 / (2 * first * later), 12);
});

test('the best plan depends on which workers are available', () => {
  expect(bestPlans(findOptimum(withWorkers(WHOLE_WORLD, ['coder', 'quick', 'writer'])))).toEqual([
    'trivia quick:solve 0.9500',
    'algebra writer:plan > coder:solve* > writer:verify* 0.5157',
    'law writer:plan > writer:solve* > writer:refine* 0.8655',
    'code writer:plan > coder:solve* > coder:verify* 0.7598',
  ]);
});

test('a review helps every topic: it starts over where the worker is in doubt, and only there', () => {
  for (const { topic, best } of findOptimum(SMALL_WORLD).topics) {
    const review = bestReview(SMALL_WORLD, topicOf(SMALL_WORLD, topic), best);
    expect(review.chance).toBeGreaterThan(best.chance + 0.02);
    expect(review.onSure.steps).toEqual([]);
    expect(review.onDoubt.steps).not.toEqual([]);
  }
});

test('even the best review sometimes spoils a right answer, by starting over in doubt and failing', () => {
  const [trivia] = findOptimum(SMALL_WORLD).topics;
  if (trivia === undefined) throw new Error('The small world must have a topic.');
  const { spoils } = bestReview(SMALL_WORLD, topicOf(SMALL_WORLD, 'trivia'), trivia.best);
  // The review doubts 15 of 100 right answers; then the quick worker, slightly distracted, solves once more.
  expect(spoils).toBeCloseTo(0.15 * (1 - 0.95 * 0.97), 10);
});

test('an unknown worker or topic is named, with those that the world has', () => {
  expect(() => withWorkers(SMALL_WORLD, ['writer'])).toThrow(
    'The small world has no worker "writer"; it has quick, maths, critic.',
  );
  expect(() => optimumFor(SMALL_WORLD, findOptimum(SMALL_WORLD), 'law')).toThrow(
    'The small world has no topic "law"; it has trivia, algebra.',
  );
});

test.each([
  ['Outline the steps.', 'plan'],
  ['1. compute both sums', 'solve'],
  ['**Verify** the plan above.', 'verify'],
  ['Polish it, then check it.', 'refine'],
  ['Think about the plan.', 'solve'],
  ['', 'solve'],
] as const)('"%s" asks a worker of the world to %s', (subtask, kind) => {
  expect(kindOf(subtask)).toBe(kind);
});
