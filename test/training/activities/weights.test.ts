import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { EncryptedStore } from '../../../src/store/encrypted-store';
import { SqliteStore } from '../../../src/store/sqlite-store';
import type { Store } from '../../../src/store/store';
import { PIECES_FOLDER, weightsKey } from '../../../src/training/keys';
import { sizeOfWeights, sweepWeights } from '../../../src/training/activities/weights';
import { keyRing } from '../../encryption/test-keys';
import { ageStore } from '../../support/age-store';

const HOUR_MS = 60 * 60 * 1000;

let folder: string;
let disk: SqliteStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weights-'));
  disk = new SqliteStore(join(folder, 'store.db'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Lays pieces as the trainer does, and returns their digests. */
async function lay(store: Store, ...pieces: readonly string[]): Promise<string[]> {
  return Promise.all(
    pieces.map(async (piece) => {
      const digest = createHash('sha256').update(piece).digest('hex');
      await store.write(`${PIECES_FOLDER}${digest.slice(0, 2)}/${digest}`, Buffer.from(piece));
      return digest;
    }),
  );
}

async function name(store: Store, trainRun: string, checkpoint: string, chunks: readonly string[]) {
  const files = [{ path: 'model/model.safetensors', bytes: 7, chunks }];
  const record = { schema: 1, record: { kind: 'model' }, files };
  await store.write(weightsKey(trainRun, checkpoint), Buffer.from(JSON.stringify(record)));
}

/** Has all pieces be so many hours older. */
function age(hours: number): void {
  ageStore(join(folder, 'store.db'), hours * HOUR_MS, PIECES_FOLDER);
}

test.each([
  ['as it is', () => disk],
  ['encrypted', () => new EncryptedStore(disk, keyRing('a'))],
])('what no checkpoint of any training run names goes once it is old, in a store %s', async (_, open) => {
  const store = open();
  const [shared = '', own = '', gone = ''] = await lay(store, 'a base model', 'an adapter', 'of nobody');
  await name(store, 'nightly', '000001', [shared, own]);
  await name(store, 'other', 'base', [shared]);
  age(3);
  const dry = await sweepWeights(store, { dryRun: true });
  expect([dry.removed.count, dry.live.count]).toEqual([1, 2]);
  expect(await store.list(PIECES_FOLDER)).toHaveLength(3);
  expect((await sweepWeights(store)).removed.count).toBe(1);
  expect(await store.list(PIECES_FOLDER)).not.toContain(`${PIECES_FOLDER}${gone.slice(0, 2)}/${gone}`);
  await store.removeOlder(weightsKey('nightly', '000001'), new Date());
  await sweepWeights(store);
  expect(await store.list(PIECES_FOLDER)).toEqual([`${PIECES_FOLDER}${shared.slice(0, 2)}/${shared}`]);
});

test('a piece may be about to be named while it is younger than two hours, whatever is asked for', async () => {
  await lay(disk, 'of a checkpoint in the making');
  age(1.9);
  await sweepWeights(disk, { olderThanMs: 0 });
  expect(await disk.list(PIECES_FOLDER)).toHaveLength(1);
  age(2.1);
  expect((await sweepWeights(disk, { olderThanMs: 24 * HOUR_MS })).removed.count).toBe(0);
  expect((await sweepWeights(disk)).removed.count).toBe(1);
});

test('where a checkpoint cannot be read, nothing is removed', async () => {
  await lay(disk, 'of nobody');
  age(3);
  await disk.write(weightsKey('nightly', '000001'), Buffer.from('{'));
  await expect(sweepWeights(disk)).rejects.toThrow(
    /training\/nightly\/weights\/000001\.json .* cannot be read.*nothing of the weights in this store can be removed/,
  );
  expect(await disk.list(PIECES_FOLDER)).toHaveLength(1);
});

test('the size of a checkpoint is that of its files', async () => {
  await name(disk, 'nightly', '000001', []);
  expect(await sizeOfWeights(disk, { trainRun: 'nightly', name: '000001' })).toBe(7);
  expect(await sizeOfWeights(disk, { trainRun: 'nightly', name: '000002' })).toBeNull();
});
