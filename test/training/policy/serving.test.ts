import { join } from 'node:path';
import { SqliteStore } from '../../../src/store/sqlite-store';
import { checkpointManifestKey, SERVING_KEY } from '../../../src/training/store-keys';
import { POLICY_FAILURES } from '../../../src/training/policy/errors';
import {
  pin,
  promote,
  readCheckpointManifest,
  readServing,
  rollback,
  writeManifest,
} from '../../../src/training/policy/serving';
import { aManifest } from '../../support/a-manifest';
import { freshFolder } from '../../local/fresh-folder';

let folder: string;
let store: SqliteStore;
beforeEach(async () => {
  folder = await freshFolder();
  store = new SqliteStore(join(folder, 'store.db'));
  for (const name of ['000001', '000002', '000003']) await writeManifest(store, aManifest({ name }));
});

const one = { trainRun: 'nightly', name: '000001' };
const two = { trainRun: 'nightly', name: '000002' };
const three = { trainRun: 'nightly', name: '000003' };
const BY_PERSON = { reason: 'it looks good', by: 'person' } as const;
const BY_GATE = { reason: 'it won', by: 'gate' } as const;

const serving = async () => (await readServing(store)).serving;

test('nothing serves before the first promotion, and rolling it back leaves nothing serving', async () => {
  expect(await serving()).toBeNull();
  const promoted = { changed: true, sentence: 'nightly/000001 serves now' };
  expect(await promote(store, one, BY_GATE)).toMatchObject(promoted);
  expect(await readServing(store)).toMatchObject({ serving: one, before: [null], reason: 'it won' });
  const takenBack = {
    changed: true,
    sentence: 'nightly/000001 serves no longer, and no checkpoint does now',
  };
  expect(await rollback(store, 'it was bad')).toMatchObject(takenBack);
  expect(await readServing(store)).toMatchObject({ serving: null, before: [], reason: 'it was bad' });
  expect(await rollback(store, 'again')).toMatchObject({ changed: false });
});

test('each rollback undoes one more promotion; promoting what serves changes nothing', async () => {
  for (const checkpoint of [one, two, two, three]) await promote(store, checkpoint, BY_PERSON);
  expect((await readServing(store)).before).toEqual([null, one, two]);
  await rollback(store, '');
  expect(await serving()).toEqual(two);
  await rollback(store, '');
  await promote(store, three, BY_PERSON);
  await rollback(store, '');
  expect(await serving()).toEqual(one);
});

test('a pinned checkpoint can be replaced by a person, but not by a gate', async () => {
  await promote(store, one, BY_PERSON);
  expect(await pin(store, true, 'release week')).toMatchObject({ changed: true });
  const refused = await promote(store, two, BY_GATE);
  expect(refused).toMatchObject({ changed: false, serving: { serving: one, pinned: true } });
  expect(refused.sentence).toMatch(/nightly\/000002 was not promoted: nightly\/000001 is pinned/);
  expect(await promote(store, two, BY_PERSON)).toMatchObject({ changed: true, serving: { pinned: true } });
  expect(await pin(store, true, 'still')).toMatchObject({ changed: false });
  await pin(store, false, 'over');
  expect(await promote(store, three, BY_GATE)).toMatchObject({ changed: true });
});

test('a checkpoint without a manifest cannot serve', async () => {
  const promoting = promote(store, { ...one, name: '000009' }, BY_PERSON);
  await expect(promoting).rejects.toMatchObject({ code: POLICY_FAILURES.noManifest });
  expect(await serving()).toBeNull();
});

test.each(['', '{', '{"schema":2}', '[]'])(
  'a pointer that reads %j is an error, not "nothing serves"',
  async (text) => {
    await store.write(SERVING_KEY, Buffer.from(text));
    await expect(readServing(store)).rejects.toThrow(/serving\.json .* cannot be read/);
  },
);

test.each(['', '{"schema":1}', JSON.stringify({ ...aManifest(), servers: [] })])(
  'a manifest that reads %j is an error that names it',
  async (text) => {
    await store.write(checkpointManifestKey('nightly', '000001'), Buffer.from(text));
    const message = expect.stringContaining('checkpoints/000001.json') as string;
    await expect(readCheckpointManifest(store, one)).rejects.toMatchObject({
      code: POLICY_FAILURES.noManifest,
      message,
    });
  },
);

test('concurrent changes by several processes lose nothing, and overtaken ones report a conflict', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `00001${index}`);
  for (const name of names) await writeManifest(store, aManifest({ name }));
  const another = () => new SqliteStore(join(folder, 'store.db'));
  const [pinning, ...promotions] = await Promise.all([
    pin(another(), true, 'release week'),
    ...names.map((name) => promote(another(), { trainRun: 'nightly', name }, BY_PERSON)),
  ]);
  const { serving: last, before, pinned } = await readServing(store);
  expect(pinned).toBe(pinning.changed);
  const won = names.filter((_, index) => promotions[index]?.changed);
  expect([...before, last].map((each) => each?.name ?? '').sort()).toEqual(['', ...won]);
  for (const { changed, overtaken } of [pinning, ...promotions]) expect(overtaken).toBe(!changed);
});

/** A store in which another process changes the pointer right before this one does. */
class Overtaken extends SqliteStore {
  constructor(private other: (() => Promise<unknown>) | null) {
    super(join(folder, 'store.db'));
  }
  override async replace(...[key, bytes, was]: Parameters<SqliteStore['replace']>): Promise<boolean> {
    const { other } = this;
    this.other = null;
    await other?.();
    return super.replace(key, bytes, was);
  }
}

test.each([
  ['promote', (at: SqliteStore) => promote(at, three, BY_PERSON)],
  ['roll back', (at: SqliteStore) => rollback(at, 'it was bad')],
  ['pin', (at: SqliteStore) => pin(at, true, 'release week')],
])(
  '%s reports a conflict, and changes nothing, if another process changed the serving checkpoint first',
  async (_, change) => {
    await promote(store, one, BY_PERSON);
    const lost = await change(new Overtaken(() => promote(store, two, BY_GATE)));
    expect(lost).toMatchObject({ changed: false, overtaken: true, serving: { serving: two } });
    expect(lost.sentence).toContain(
      'at this moment another process did so (it won), and nightly/000002 serves',
    );
    expect(await readServing(store)).toMatchObject({ serving: two, before: [null, one], reason: 'it won' });
  },
);

test('a gate replaces only what it compared with, and rolls back only what it promoted', async () => {
  await promote(store, one, BY_PERSON);
  const sentence = 'meanwhile nightly/000001 serves, which it was not compared with';
  const late = { changed: false, overtaken: true, sentence };
  expect(await promote(store, three, { ...BY_GATE, over: two })).toMatchObject(late);
  const raced = new Overtaken(() => promote(store, two, BY_PERSON));
  expect(await promote(raced, three, { ...BY_GATE, over: one })).toMatchObject({ overtaken: true });
  expect(await rollback(store, 'worse than it was', one)).toMatchObject({ overtaken: true });
  expect(await serving()).toEqual(two);
});
