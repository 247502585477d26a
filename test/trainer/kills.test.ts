import { compareNights, drawKills, LESSON, SAME, SHARE_WITH_KILLS } from '../../examples/learn/kills/main';
import { playNight } from '../../examples/learn/kills/night';

test('a night whose processes are killed comes to the same weights, and buys no answer twice', async () => {
  const bundle = String(process.env.TEST_WORKFLOW_BUNDLE);
  const undisturbed = await playNight(LESSON, bundle, []);
  const requests = Math.floor(undisturbed.requests.length * SHARE_WITH_KILLS);
  const disturbed = await playNight(LESSON, bundle, drawKills(7, 5, requests));

  expect(undisturbed.cycles.map(({ weightsSha256 }) => weightsSha256)).not.toContain(null);
  expect(disturbed.progress).toMatchObject({ status: 'done', done: 3 });
  expect(compareNights(undisturbed, disturbed)).toEqual(SAME);
}, 900_000);
