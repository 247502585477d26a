import {
  compareNights,
  drawKills,
  LESSON,
  type NightDifference,
  SHARE_WITH_KILLS,
} from '../../../research/kills/main';
import { type NightFacts, playNight } from '../../../research/kills/night';

interface KilledNight {
  readonly undisturbed: NightFacts;
  readonly disturbed: NightFacts;
  readonly difference: NightDifference;
}

/** Plays a night in peace and one whose processes are killed, and compares them; `store` is the URL of the second. */
export async function playKilledNight(seed: number, store?: string): Promise<KilledNight> {
  const bundle = String(process.env.TEST_WORKFLOW_BUNDLE);
  const undisturbed = await playNight(LESSON, bundle, []);
  const requests = Math.floor(undisturbed.requests.length * SHARE_WITH_KILLS);
  const disturbed = await playNight(LESSON, bundle, drawKills(seed, 5, requests), store);
  return { undisturbed, disturbed, difference: compareNights(undisturbed, disturbed) };
}
