import type { Store } from '../../src';
import { advanceRun, writeNight } from '../../src/training/activities/records';
import { writeManifest } from '../../src/training/policy/serving';
import { aNight } from '../training/client/keep-run';
import { aManifest } from './a-manifest';

/** Stores two checkpoints of the training run `nightly`, and the night that made them. */
export async function keepNightly(store: Store, decision: string | null): Promise<void> {
  for (const name of ['000001', '000002']) await writeManifest(store, aManifest({ name }));
  const checkpoint = { trainRun: 'nightly', name: '000002' };
  await advanceRun(store, { schema: 1, trainRun: 'nightly', done: 2, checkpoint });
  const closedAt = '2026-11-21T03:00:00.000Z';
  await writeNight(store, aNight({ last: 2, done: 2, checkpoint, closedAt, decision }));
}
