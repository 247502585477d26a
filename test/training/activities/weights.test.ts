import { createHash } from 'node:crypto';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { ArtifactFolder } from '../../../src/training/artifacts';
import { UNFINISHED_FOLDER, WEIGHTS_FOLDER, weightsKey } from '../../../src/training/store-keys';
import { sizeOfWeights, sweepWeights } from '../../../src/training/activities/forget-checkpoints';

const HOUR_MS = 60 * 60 * 1000;

let folder: string;
let disk: ArtifactFolder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weights-'));
  disk = new ArtifactFolder(folder);
});
afterEach(() => rm(folder, { recursive: true }));

/** Lays pieces as the trainer does, and returns their digests. */
async function lay(...pieces: readonly string[]): Promise<string[]> {
  return Promise.all(
    pieces.map(async (piece) => {
      const digest = createHash('sha256').update(piece).digest('hex');
      await disk.write(`${WEIGHTS_FOLDER}${digest.slice(0, 2)}/${digest}`, Buffer.from(piece));
      return digest;
    }),
  );
}

async function name(trainRun: string, checkpoint: string, digests: readonly string[]) {
  const files = ['', ...digests].map((sha256) => ({ path: 'model/x.safetensors', bytes: 7, sha256 }));
  const record = { schema: 1, record: { kind: 'model' }, files };
  await disk.write(weightsKey(trainRun, checkpoint), Buffer.from(JSON.stringify(record)));
}

/** Has all files of weights be so many hours old. */
async function age(hours: number): Promise<void> {
  const at = new Date(Date.now() - hours * HOUR_MS);
  for (const key of [...(await disk.list(WEIGHTS_FOLDER)), ...(await disk.list(UNFINISHED_FOLDER))])
    await utimes(join(folder, key), at, at);
}

test('what no checkpoint of any training run names goes once it is old', async () => {
  const [shared = '', own = '', gone = ''] = await lay('a base model', 'an adapter', 'of nobody');
  await name('nightly', '000001', [shared, own]);
  await name('other', 'base', [shared]);
  await age(3);
  const dry = await sweepWeights(disk, { dryRun: true });
  expect([dry.removed.count, dry.live.count]).toEqual([1, 2]);
  expect(await disk.list(WEIGHTS_FOLDER)).toHaveLength(3);
  expect((await sweepWeights(disk)).removed.count).toBe(1);
  expect(await disk.list(WEIGHTS_FOLDER)).not.toContain(`${WEIGHTS_FOLDER}${gone.slice(0, 2)}/${gone}`);
  await disk.removeOlder(weightsKey('nightly', '000001'), new Date());
  await sweepWeights(disk);
  expect(await disk.list(WEIGHTS_FOLDER)).toEqual([`${WEIGHTS_FOLDER}${shared.slice(0, 2)}/${shared}`]);
});

test('a piece may be about to be named while it is younger than two hours, whatever is asked for', async () => {
  await lay('of a checkpoint in the making');
  await age(1.9);
  await sweepWeights(disk, { olderThanMs: 0 });
  expect(await disk.list(WEIGHTS_FOLDER)).toHaveLength(1);
  await age(2.1);
  expect((await sweepWeights(disk, { olderThanMs: 24 * HOUR_MS })).removed.count).toBe(0);
  expect((await sweepWeights(disk)).removed.count).toBe(1);
});

test('where a checkpoint cannot be read, nothing is removed', async () => {
  await lay('of nobody');
  await age(3);
  await disk.write(weightsKey('nightly', '000001'), Buffer.from('{'));
  await expect(sweepWeights(disk)).rejects.toThrow(
    /training\/nightly\/weights\/000001\.json .* cannot be read/,
  );
  expect(await disk.list(WEIGHTS_FOLDER)).toHaveLength(1);
});

test('the size of a checkpoint is that of its files', async () => {
  await name('nightly', '000001', []);
  expect(await sizeOfWeights(disk, { trainRun: 'nightly', name: '000001' })).toBe(7);
  expect(await sizeOfWeights(disk, { trainRun: 'nightly', name: '000002' })).toBeNull();
});

test('what a killed writer left unfinished goes once it is old', async () => {
  await disk.write(`${UNFINISHED_FOLDER}half`, Buffer.from('half'));
  expect((await sweepWeights(disk)).removed.count).toBe(0);
  await age(2.1);
  expect((await sweepWeights(disk)).removed.count).toBe(1);
});
