import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { draw } from '../../src/testing/simulated-model';
import { randomFrom, shuffled } from '../../src/statistics/chance';
import { bundleWorkflows } from '../support/bundle-workflows';
import type { Lesson } from '../support/lesson';
import { readWhole } from '../support/options';
import { SMALL_WORLD } from '../world/world';
import { type NightFacts, type PlannedKill, playNight, type Victim } from './night';

// `npm run learn -- kills --seeds 3 --kills 5`: plays an undisturbed night, then one per seed whose processes are
// killed at times drawn from the seed. Exits with 0 if all nights have equal results, else with 1. `--ahead` has
// rollouts one cycle ahead. `--store s3://bucket/prefix` keeps each disturbed night's data there, below its own prefix.

async function main(): Promise<void> {
  const { seeds, kills, store, ahead } = parseArgs({
    options: {
      seeds: { type: 'string', default: '3' },
      kills: { type: 'string', default: '5' },
      store: { type: 'string' },
      ahead: { type: 'boolean', default: false },
    },
  }).values;
  const last = readWhole('--seeds', seeds);
  const each = readWhole('--kills', kills);
  const lesson = { ...LESSON, training: { ...LESSON.training, staleness: ahead ? 1 : 0 } } as const;
  const folder = await mkdtemp(join(tmpdir(), 'kills-bundle-'));
  try {
    const bundle = await bundleWorkflows(folder);
    const undisturbed = await playNight(lesson, bundle, []);
    const { length } = undisturbed.requests;
    console.log(`undisturbed: ${undisturbed.cycles.length} cycles, ${length} calls of workers`);
    for (let seed = 1; seed <= last; seed += 1) {
      const planned = drawKills(seed, each, Math.floor(length * SHARE_WITH_KILLS));
      const place = store && `${store}/${Date.now().toString(36)}-${seed}`;
      const disturbed = await playNight(lesson, bundle, planned, place);
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

const VICTIMS: readonly Victim[] = ['worker', 'step', 'policy server', 'trainer', 'server'];

/**
 * Draws the kills of a seed: each victim before any is repeated, in random order, at times spread over the first
 * requests of the night.
 */
export function drawKills(seed: number, kills: number, requests: number): PlannedKill[] {
  const random = randomFrom(seed, 'victims');
  const rounds = Array.from({ length: Math.ceil(kills / VICTIMS.length) }, () => shuffled(VICTIMS, random));
  return rounds
    .flat()
    .slice(0, kills)
    .map((victim, index) => ({
      victim,
      request: 1 + Math.floor(((index + draw(seed, 'when', index)) / kills) * requests),
    }));
}

/** A night of about a minute, long enough to be killed in every phase. */
export const LESSON: Lesson = {
  world: SMALL_WORLD,
  seed: 7,
  warmStartSteps: 60,
  training: { questions: 2, groupSize: 8, cycles: 3, totalCycles: 3, gate: { samples: 1 } },
};

/** Share of a night's requests over which kills are spread; the rest is left so that the last kill comes due. */
export const SHARE_WITH_KILLS = 0.6;

/** Differences between a disturbed and an undisturbed night; none if all is well. */
export interface NightDifference {
  /** Cycles whose weights, batch, rewards or verdicts differ. */
  readonly cycles: readonly number[];
  /** Ids of calls that were repeated although their answer was stored. */
  readonly madeTwice: readonly string[];
  /** Ids of calls that were never made. */
  readonly lost: readonly string[];
  /** Ids of calls that an undisturbed night does not make. */
  readonly leaked: readonly string[];
}

export function compareNights(undisturbed: NightFacts, disturbed: NightFacts): NightDifference {
  const count = Math.max(undisturbed.cycles.length, disturbed.cycles.length);
  const places = Array.from({ length: count }, (_, place) => place);
  const [wanted, made] = [callsOf(undisturbed), callsOf(disturbed)];
  return {
    cycles: places
      .filter((place) => !isDeepStrictEqual(undisturbed.cycles[place], disturbed.cycles[place]))
      .map((place) => place + 1),
    madeTwice: repeatedInVain(disturbed),
    lost: [...wanted].filter((call) => !made.has(call)),
    leaked: [...made].filter((call) => !wanted.has(call)),
  };
}

/** No difference. */
export const SAME: NightDifference = { cycles: [], madeTwice: [], lost: [], leaked: [] };

/** Longest time on a busy machine from a store lookup that finds nothing to the request that follows it. */
const LOOK_MS = 250;

/** Returns the ids of calls that were repeated although their answer was stored; there must be none. */
function repeatedInVain({ requests, keepings }: Pick<NightFacts, 'requests' | 'keepings'>): string[] {
  const keptAt = new Map<string, number>();
  for (const { callId, at } of keepings) keptAt.set(callId, Math.min(at, keptAt.get(callId) ?? Infinity));
  return requests
    .map(({ headers, receivedAt }) => ({ callId: String(headers['x-client-request-id']), receivedAt }))
    .filter(({ callId, receivedAt }) => receivedAt > (keptAt.get(callId) ?? Infinity) + LOOK_MS)
    .map(({ callId }) => callId);
}

/** Returns the ids of all calls that a night made. */
function callsOf({ requests }: Pick<NightFacts, 'requests'>): ReadonlySet<string> {
  return new Set(requests.map(({ headers }) => String(headers['x-client-request-id'])));
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error);
    // Exits at once, since open calls would retry for ever.
    process.exit(2);
  });
}
