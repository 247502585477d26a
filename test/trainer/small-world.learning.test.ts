import { lessonOf, runSeed } from '../../research/demo/run-seed';
import { SMALL } from '../../research/plain/recipe';
import { findOptimum } from '../../research/world/optimum';
import { freshFolder } from '../local/fresh-folder';

let folder: string;
beforeAll(async () => {
  folder = await freshFolder();
});

test('a policy that imitates bad plans learns to write the best ones, serves, and is rolled back', async () => {
  const optimum = findOptimum(SMALL.world);
  const learned = await runSeed({
    recipe: SMALL,
    lesson: lessonOf(SMALL, 1),
    seed: 1,
    optimum,
    folder,
    tell: () => undefined,
  });
  expect(learned.before.greedy.ratio).toBeLessThan(0.85);
  expect(learned.after.cool.ratio).toBeGreaterThanOrEqual(0.95);
  expect(learned.promoted).toBe(true);
}, 1_200_000);
