import { SMALL_WORLD } from '../../../src/testing/world';
import type { Lesson } from '../../support/lesson';
import { drawKills } from './kill-script';
import { playNight } from './play-nights';
import { callsOf, repeatedInVain } from './repeated-calls';

const LESSON: Lesson = {
  world: SMALL_WORLD,
  seed: 7,
  warmStartSteps: 60,
  training: { questions: 2, groupSize: 8, cycles: 3, totalCycles: 3, gate: { samples: 1 } },
};

test('a night whose processes are killed comes to the same weights, and buys no answer twice', async () => {
  const bundle = String(process.env.TEST_WORKFLOW_BUNDLE);
  const undisturbed = await playNight(LESSON, bundle, []);
  const rollouts = undisturbed.requests.length;
  const disturbed = await playNight(LESSON, bundle, drawKills(7, 5, Math.floor(rollouts * 0.6)));

  expect(undisturbed.cycles.map(({ weightsSha256 }) => weightsSha256)).not.toContain(null);
  expect(disturbed.cycles).toEqual(undisturbed.cycles);
  expect(disturbed.progress).toMatchObject({ status: 'done', done: 3 });
  expect(callsOf(disturbed)).toEqual(callsOf(undisturbed));
  expect(repeatedInVain(disturbed)).toEqual([]);
}, 900_000);
