import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import * as forgetting from '../../../src/training/activities/forget-checkpoints';
import { advanceRun, writeNight } from '../../../src/training/activities/records';
import { ArtifactFolder } from '../../../src/training/artifacts';
import { parseTrainable } from '../../../src/training/config';
import { sixDigits } from '../../../src/training/names';
import {
  promote,
  readCheckpointManifest,
  rollback,
  writeManifest,
} from '../../../src/training/policy/serving';
import {
  UNFINISHED_FOLDER,
  WEIGHTS_FOLDER,
  weightsFolder,
  weightsKey,
} from '../../../src/training/store-keys';
import { aManifest } from '../../support/a-manifest';
import { aNight } from '../client/keep-run';
import { openQuestionFolder, type QuestionFolder } from './questions';

let folder: QuestionFolder;
beforeEach(async () => {
  folder = await openQuestionFolder();
  for (const name of ['base', '000001', '000002', '000003', '000004', '000005', '000006']) {
    await writeManifest(folder.store, aManifest({ trainRun: 'sums', name }));
  }
});

const sums = (name: string) => ({ trainRun: 'sums', name });

async function forget(config = folder.config()): Promise<readonly string[]> {
  const request = { trainRun: 'sums', needed: [sums('000006')], keep: { last: 0, every: null } };
  return (await forgetting.forgetCheckpoints({ store: folder.store, config }, request)).kept;
}

const OTHERS_NIGHT = aNight({
  trainRun: 'other',
  last: 4,
  done: 2,
  checkpoint: { trainRun: 'other', name: '000002' },
  begun: sums('000003'),
});

test('forgets unneeded checkpoints, which cannot be used afterwards', async () => {
  expect(await forget()).toEqual(['000006', 'base']);
  const promoting = promote(folder.store, sums('000005'), { reason: '', by: 'person' });
  await expect(promoting).rejects.toThrow('sums/000005 has no manifest');
  expect(await readCheckpointManifest(folder.store, sums('base'))).toMatchObject({ name: 'base' });
});

test("removes the trainer's record of a forgotten checkpoint too, even if it was never published", async () => {
  for (const checkpoint of ['base', 'warm', '000004', '000006', '000007']) await name('sums', checkpoint, []);
  await name('other', '000001', []);
  const kept = ['000006', 'base', 'warm'];
  expect(await forget()).toEqual(kept);
  expect(await disk.list(weightsFolder('sums'))).toEqual(kept.map((each) => weightsKey('sums', each)));
  expect(await disk.list(weightsFolder('other'))).toHaveLength(1);
});

test('keeps the serving checkpoint, and all that rollbacks could bring back', async () => {
  for (const name of ['000002', '000004'])
    await promote(folder.store, sums(name), { reason: '', by: 'gate' });
  expect(await forget()).toEqual(['000002', '000004', '000006', 'base']);
  await rollback(folder.store, '');
  expect(await forget()).toEqual(['000002', '000006', 'base']);
});

test('keeps the checkpoints that open nights of other training runs started from or reached', async () => {
  await advanceRun(folder.store, { schema: 1, trainRun: 'third', done: 0, checkpoint: sums('000001') });
  await writeNight(folder.store, OTHERS_NIGHT);
  await writeNight(folder.store, { ...OTHERS_NIGHT, date: '2026-11-22', checkpoint: sums('000005') });
  expect(await forget()).toEqual(['000001', '000003', '000005', '000006', 'base']);
  for (const date of ['2026-11-21', '2026-11-22']) {
    await writeNight(folder.store, { ...OTHERS_NIGHT, date, closedAt: '2026-11-23T00:00:00.000Z' });
  }
  expect(await forget()).toEqual(['000001', '000006', 'base']);
});

test.each([
  [OTHERS_NIGHT.done, ['000003', '000006', 'base']],
  [OTHERS_NIGHT.done + 1, ['000006', 'base']],
])(
  'an interrupted night needs no checkpoint once a later night has trained what it left: %i',
  async (done, kept) => {
    await writeNight(folder.store, OTHERS_NIGHT);
    await advanceRun(folder.store, { schema: 1, trainRun: 'other', checkpoint: null, done });
    expect(await forget()).toEqual(kept);
  },
);

test('keeps the checkpoint that the configuration names', async () => {
  const conductor = { provider: 'policy', checkpoint: 'sums/000002' } as const;
  const { conductor: pinned } = parseTrainable({ conductor, workers: folder.config().workers });
  expect(await forget({ ...folder.config(), conductor: pinned })).toEqual(['000002', '000006', 'base']);
});

test('keeps the imitation to which a KL term pulls the updates of checkpoints that remain, of any run', async () => {
  await name('sums', '000005', [], sums('000004'));
  await name('sums', '000006', [], sums('000002'));
  await name('other', '000009', [], sums('000003'));
  expect(await forget()).toEqual(['000002', '000003', '000006', 'base']);
});

const HOUR_MS = 60 * 60 * 1000;

let disk: ArtifactFolder;
beforeEach(() => (disk = new ArtifactFolder(folder.artifacts)));

/** Writes weight files as the trainer does, and returns their digests. */
async function lay(...pieces: readonly string[]): Promise<string[]> {
  return Promise.all(
    pieces.map(async (piece) => {
      const digest = createHash('sha256').update(piece).digest('hex');
      await disk.write(`${WEIGHTS_FOLDER}${digest.slice(0, 2)}/${digest}`, Buffer.from(piece));
      return digest;
    }),
  );
}

async function name(
  trainRun: string,
  checkpoint: string,
  digests: readonly string[],
  first: ReturnType<typeof sums> | null = null,
) {
  const files = ['', ...digests].map((sha256) => ({ path: 'model/x.safetensors', bytes: 7, sha256 }));
  const record = { schema: 1, record: { kind: 'model', first }, files };
  await disk.write(weightsKey(trainRun, checkpoint), Buffer.from(JSON.stringify(record)));
}

/** Sets the age of all weight files. */
async function age(hours: number): Promise<void> {
  const at = new Date(Date.now() - hours * HOUR_MS);
  for (const key of [...(await disk.list(WEIGHTS_FOLDER)), ...(await disk.list(UNFINISHED_FOLDER))])
    await utimes(join(disk.url, key), at, at);
}

test('removes old weight files that no checkpoint of any training run names', async () => {
  const [shared = '', own = '', gone = ''] = await lay('a base model', 'an adapter', 'of nobody');
  await name('nightly', '000001', [shared, own]);
  await name('other', 'base', [shared]);
  await age(3);
  const dry = await forgetting.sweepWeights(disk, { dryRun: true });
  expect([dry.removed.count, dry.live.count]).toEqual([1, 2]);
  expect(await disk.list(WEIGHTS_FOLDER)).toHaveLength(3);
  expect((await forgetting.sweepWeights(disk)).removed.count).toBe(1);
  expect(await disk.list(WEIGHTS_FOLDER)).not.toContain(`${WEIGHTS_FOLDER}${gone.slice(0, 2)}/${gone}`);
  await disk.removeOlder(weightsKey('nightly', '000001'), new Date());
  await forgetting.sweepWeights(disk);
  expect(await disk.list(WEIGHTS_FOLDER)).toEqual([`${WEIGHTS_FOLDER}${shared.slice(0, 2)}/${shared}`]);
});

test('keeps weight files younger than two hours, which may be unfinished or about to be named', async () => {
  await lay('of a checkpoint in the making');
  await disk.write(`${UNFINISHED_FOLDER}half`, Buffer.from('half'));
  await age(1.9);
  expect((await forgetting.sweepWeights(disk, { olderThanMs: 0 })).removed.count).toBe(0);
  await age(2.1);
  expect((await forgetting.sweepWeights(disk, { olderThanMs: 24 * HOUR_MS })).removed.count).toBe(0);
  expect((await forgetting.sweepWeights(disk)).removed.count).toBe(2);
});

test('removes nothing if a checkpoint cannot be read', async () => {
  await lay('of nobody');
  await age(3);
  await disk.write(weightsKey('nightly', '000001'), Buffer.from('{'));
  await expect(forgetting.sweepWeights(disk)).rejects.toThrow(
    /nightly\/weights\/000001\.json .* cannot be read/,
  );
  expect(await disk.list(WEIGHTS_FOLDER)).toHaveLength(1);
});

test('the size of a checkpoint is that of its files', async () => {
  await name('nightly', '000001', []);
  const sizes = ['000001', '000002'].map((each) =>
    forgetting.sizeOfWeights(disk, { trainRun: 'nightly', name: each }),
  );
  expect(await Promise.all(sizes)).toEqual([7, null]);
});

const runs = fc.constantFrom('nightly', 'nightly-2', 'other');
const cycles = fc.integer({ min: 1, max: 60 }).map(sixDigits);
const names = fc.oneof(fc.constantFrom('base', 'warm', 'warm-1a2b'), cycles);
const holdings: fc.Arbitrary<forgetting.Holdings> = fc.record({
  trainRun: fc.constant('nightly'),
  names: fc.uniqueArray(names, { maxLength: 30 }),
  needed: fc.array(fc.record({ trainRun: runs, name: names }), { maxLength: 10 }),
  keep: fc.record({ last: fc.nat(8), every: fc.option(fc.integer({ min: 1, max: 12 })) }),
});

/** Checks each reason to keep a checkpoint; one of the last cycles has fewer than `last` later ones. */
function reasons({ trainRun, names, needed, keep }: forgetting.Holdings, name: string): boolean[] {
  const later = names.filter((other) => /^\d/.test(other) && other > name);
  return [
    !/^\d/.test(name),
    needed.some((each) => each.trainRun === trainRun && each.name === name),
    later.length < keep.last,
    keep.every !== null && Number(name) % keep.every === 0,
  ];
}

test('keeps exactly the checkpoints that are needed, named by the settings, or not made by a cycle', () => {
  fc.assert(
    fc.property(holdings, (held) => {
      const expected = held.names.filter((name) => reasons(held, name).includes(true));
      expect(forgetting.keptCheckpoints(held)).toEqual(expected);
    }),
  );
});
