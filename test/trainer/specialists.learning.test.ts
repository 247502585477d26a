import { mean } from '../../research/plain/scoring';
import { type Cycle, type Lesson, warmUp } from '../../research/specialists/learn';
import { learnFrom, openSpecialists, SMALL } from './support/small-specialists';

/** Returns the share of right plans in the last three cycles. */
function shareRight(cycles: readonly Cycle[]): number {
  const played = cycles.slice(-3).flatMap((cycle) => cycle.played);
  return mean(played.map(({ verdict }) => (verdict === 'correct' ? 1 : 0)));
}

test('a Conductor learns which worker to ask for what and in which words; from shuffled verdicts it does not', async () => {
  const { deskFor, close } = await openSpecialists(SMALL);
  const learnBy = async (lesson: Lesson): Promise<Cycle[]> => {
    const desk = deskFor(lesson);
    const checkpoint = await warmUp(desk);
    return learnFrom(desk, { done: 0, checkpoint, writer: checkpoint, own: [] });
  };
  try {
    expect(shareRight(await learnBy('verdicts'))).toBeGreaterThan(0.65);
    expect(shareRight(await learnBy('shuffled'))).toBeLessThan(0.45);
  } finally {
    await close();
  }
}, 1_200_000);
