import {
  bestReview,
  findOptimum,
  optimumFor,
  SMALL_WORLD,
  WHOLE_WORLD,
  withWorkers,
} from '../../../src/testing/world';
import type { Optimum } from '../../../src/testing/world';
import { kindOf } from '../../../src/testing/world/kind-of';
import { topicOf } from '../../../src/testing/world/world';

const whole = findOptimum(WHOLE_WORLD);

/** One line a topic: `worker:kind`, with `*` where a step sees all before it. */
function bestPlans({ topics }: Optimum): string[] {
  return topics.map(({ topic, best }) => {
    const steps = best.plan.steps.map(
      ({ worker, subtask, sees }) => `${worker}:${kindOf(subtask)}${sees.length > 0 ? '*' : ''}`,
    );
    return `${topic} ${steps.join(' > ')} ${best.chance.toFixed(4)}`;
  });
}

test('the whole world needs another team for each topic', () => {
  expect(bestPlans(whole)).toEqual([
    'trivia quick:solve 0.9500',
    'algebra maths:solve > critic:verify* 0.9368',
    'law critic:solve > writer:refine* 0.8900',
    'code writer:plan > coder:solve* > critic:verify* 0.8775',
  ]);
  expect(whole.chance).toBeCloseTo(0.9136, 4);
  expect(whole.reward).toBeCloseTo(0.9568, 4);
});

test('neither one worker nor luck comes near it', () => {
  expect(whole.bestWorker).toBeCloseTo(0.4425, 6);
  expect(whole.random).toBeLessThan(0.3);
  expect(whole.topics.map(({ single }) => single.chance)).toEqual([0.95, 0.62, 0.5, 0.35]);
});

test('so does the small one, in a few plans', () => {
  const small = findOptimum(SMALL_WORLD);
  expect(bestPlans(small)).toEqual([
    'trivia quick:solve 0.9500',
    'algebra maths:solve > critic:verify* 0.9368',
  ]);
  expect(small.bestWorker).toBeCloseTo(0.65, 6);
});

test('which plan is best depends on which workers there are', () => {
  expect(bestPlans(findOptimum(withWorkers(WHOLE_WORLD, ['coder', 'quick', 'writer'])))).toEqual([
    'trivia quick:solve 0.9500',
    'algebra coder:solve > writer:verify* > writer:verify* 0.6692',
    'law writer:plan > writer:solve* > writer:refine* 0.8655',
    'code writer:plan > coder:solve* > coder:verify* 0.7955',
  ]);
});

test('a review helps every topic: it starts anew where the worker is in doubt, and only there', () => {
  for (const { topic, best } of whole.topics) {
    const review = bestReview(WHOLE_WORLD, topicOf(WHOLE_WORLD, topic), best);
    expect(review.chance).toBeGreaterThan(best.chance + 0.02);
    expect(review.onSure.steps).toEqual([]);
    expect(review.onDoubt.steps).not.toEqual([]);
  }
});

test('what a world lacks is named, with what it has', () => {
  expect(() => withWorkers(SMALL_WORLD, ['writer'])).toThrow(
    'The small world has no worker "writer"; it has quick, maths, critic.',
  );
  expect(() => optimumFor(SMALL_WORLD, findOptimum(SMALL_WORLD), 'law')).toThrow(
    'The small world has no topic "law"; it has trivia, algebra.',
  );
});
