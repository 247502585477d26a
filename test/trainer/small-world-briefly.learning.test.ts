import { lessonOf, runSeed } from '../../research/demo/run-seed';
import { type Recipe, SMALL } from '../../research/plain/recipe';
import { findOptimum } from '../../research/world/optimum';
import { freshFolder } from '../local/fresh-folder';

/** All steps of the whole recipe, but two cycles: small-world.learning.test.ts has a policy learn the best plans. */
const BRIEF: Recipe = {
  ...SMALL,
  heldOut: 8,
  warmStart: { ...SMALL.warmStart, examples: 500, steps: 300 },
  learning: { ...SMALL.learning, cycles: 2, groupSize: 8 },
};

test('a policy that imitates plans serves, spends a night, and is judged by the gate', async () => {
  const told: string[] = [];
  const learned = await runSeed({
    recipe: BRIEF,
    lesson: lessonOf(BRIEF, 1),
    seed: 1,
    optimum: findOptimum(BRIEF.world),
    folder: await freshFolder(),
    tell: (line) => told.push(line),
  });
  expect(learned).toMatchObject({ cycles: 2, promoted: false });
  expect(learned.after.cool.formatRate).toBeGreaterThan(0.9);
  expect(told).toContainEqual(expect.stringMatching(/^a solve was planned by lesson\/warm-/));
  expect(told.at(-1)).toMatch(/^gate: lesson\/000002 does not replace lesson\/warm-/);
}, 600_000);
