import { SAME } from '../../research/kills/main';
import { playKilledNight } from './support/killed-night';

test('a night whose processes are killed ends with the same weights, and buys no answer twice', async () => {
  const { undisturbed, disturbed, difference } = await playKilledNight(7);
  expect(undisturbed.cycles.map(({ weightsSha256 }) => weightsSha256)).not.toContain(null);
  expect(disturbed.progress).toMatchObject({ status: 'done', done: 3 });
  expect(difference).toEqual(SAME);
}, 1_200_000);
