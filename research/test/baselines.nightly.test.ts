import { bestConstant, bestRouter, learnTables, shareNearBest } from '../world/baselines';
import { chanceOfPlan, everyPlan, findOptimum } from '../world/optimum';
import { priorNamed } from '../world/warm-start';
import { SMALL_WORLD, topicOf } from '../world/world';

const optimum = findOptimum(SMALL_WORLD);
const { topics } = SMALL_WORLD;

test('the best constant plan is worth what is stated, and no other plan is worth more', () => {
  const { plan, chance } = bestConstant(SMALL_WORLD);
  const worth = (each: typeof plan) =>
    topics.reduce((sum, topic) => sum + chanceOfPlan(SMALL_WORLD, topic, each), 0) / topics.length;
  expect(chance).toBeCloseTo(worth(plan), 12);
  expect(Math.max(...[...everyPlan(SMALL_WORLD)].map((each) => worth(each.plan)))).toBeCloseTo(chance, 12);
  expect(chance).toBeLessThan(optimum.chance);
});

test('the best router is worth the mean, over topics, of the best single worker', () => {
  const best = topics.map(({ name }) => Math.max(...SMALL_WORLD.workers.map(({ solve }) => solve[name])));
  expect(bestRouter(optimum)).toBeCloseTo(best.reduce((sum, chance) => sum + chance, 0) / best.length, 12);
});

test('tables that are told the topic learn more than any constant plan, and the same from the same seed', () => {
  const learned = learnTables(SMALL_WORLD, 1);
  expect(learned).toBeGreaterThan(bestConstant(SMALL_WORLD).chance);
  expect(learned).toBeLessThanOrEqual(optimum.chance);
  expect(learnTables(SMALL_WORLD, 1)).toBe(learned);
  expect(learnTables(SMALL_WORLD, 2)).not.toBe(learned);
});

test('a prior that knows the best shapes draws good plans more often than a blind one', () => {
  for (const { name } of topics) {
    const [decoy = 0, blind = 0] = ['decoy', 'blind'].map((prior) =>
      shareNearBest(SMALL_WORLD, topicOf(SMALL_WORLD, name), priorNamed(prior), optimum),
    );
    expect(blind).toBeGreaterThan(0);
    expect(decoy).toBeGreaterThan(2 * blind);
  }
});
