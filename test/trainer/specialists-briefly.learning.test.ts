import { warmUp } from '../../research/specialists/learn';
import type { Recipe } from '../../research/specialists/recipe';
import { learnFrom, openSpecialists, SMALL } from './support/small-specialists';

const BRIEF: Recipe = {
  ...SMALL,
  warmStart: { ...SMALL.warmStart, steps: 120 },
  imitation: { ...SMALL.imitation, cycles: 1 },
  rewards: { ...SMALL.rewards, cycles: 2 },
};

test('a training that is resumed before its last cycle, as after a kill, ends with the same weights', async () => {
  const { deskFor, close } = await openSpecialists(BRIEF);
  try {
    const desk = deskFor('verdicts');
    const checkpoint = await warmUp(desk);
    const cycles = await learnFrom(desk, { done: 0, checkpoint, writer: checkpoint, own: [] });
    const [before, last] = cycles.slice(-2);
    if (before === undefined) throw new Error('nothing was learned');
    const [again] = await learnFrom(desk, before);
    expect(again?.checkpoint.weightsSha256).toBe(last?.checkpoint.weightsSha256);
    expect(before.checkpoint.weightsSha256).not.toBe(last?.checkpoint.weightsSha256);
  } finally {
    await close();
  }
}, 600_000);
