/**
 * `npm run train:kills -- --seeds 3 --kills 5`: plays a night undisturbed, and for each seed once more while its
 * processes are killed at moments of that seed. Ends with 0 where every night came to the same, with 1 where one did not.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleWorkflows } from '../../../test/support/bundle-workflows';
import { compareNights, type NightDifference } from './compare-nights';
import { drawKills, type PlannedKill } from './kill-script';
import { LESSON, SHARE_WITH_KILLS } from './lesson';
import { playNight } from './play-nights';

async function main(): Promise<void> {
  const { seeds, kills } = parseArgs({
    options: { seeds: { type: 'string', default: '3' }, kills: { type: 'string', default: '5' } },
  }).values;
  const folder = await mkdtemp(join(tmpdir(), 'kills-bundle-'));
  try {
    const bundle = await bundleWorkflows(folder);
    const undisturbed = await playNight(LESSON, bundle, []);
    const { length } = undisturbed.requests;
    console.log(`undisturbed: ${undisturbed.cycles.length} cycles, ${length} calls of workers`);
    for (let seed = 1; seed <= Number(seeds); seed += 1) {
      const planned = drawKills(seed, Number(kills), Math.floor(length * SHARE_WITH_KILLS));
      const disturbed = await playNight(LESSON, bundle, planned);
      const difference = compareNights(undisturbed, disturbed);
      console.log(lineOf(seed, planned, disturbed.cycles.length, difference));
      if (Object.values(difference).some((found: readonly unknown[]) => found.length > 0)) {
        process.exitCode = 1;
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function lineOf(
  seed: number,
  planned: readonly PlannedKill[],
  count: number,
  { cycles, madeTwice, lost, leaked }: NightDifference,
): string {
  const kills = planned.map(({ victim, request }) => `${victim} at call ${request}`).join(', ');
  const same = cycles.length === 0 ? 'the same weights and batches' : `others in ${cycles.join(', ')}`;
  return (
    `seed ${seed}: killed ${kills}: ${count} cycles, ${same}; ` +
    `calls made twice ${madeTwice.length}, lost ${lost.length}, leaked ${leaked.length}`
  );
}

main().catch((error: unknown) => {
  console.error(error);
  // What was under way when it broke off would try on for ever.
  process.exit(2);
});
