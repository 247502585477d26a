import { join } from 'node:path';
import { EncryptedStore } from '../../../src/store/encrypted-store';
import { SqliteStore } from '../../../src/store/sqlite-store';
import type { Store } from '../../../src/store/store';
import { QuestionSets } from '../../../src/evaluation/activities/question-sets';
import { writeBatch } from '../../../src/training/activities/batch';
import { closeCycle, closeNight } from '../../../src/training/activities/close-cycle';
import { judgeCandidate } from '../../../src/training/activities/judge';
import { openNight } from '../../../src/training/activities/open-night';
import { keepGroup, readRun } from '../../../src/training/activities/records';
import { readNights } from '../../../src/training/client/read-runs';
import { gateKey, metricsKey, nightKey } from '../../../src/training/keys';
import type { TrainingSettings } from '../../../src/training/settings';
import type { KeyRing } from '../../../src/encryption/keys';
import { nameOfKey } from '../../../src/encryption/seal';
import { keyRing } from '../../encryption/test-keys';
import { freshFolder } from '../../local/fresh-folder';
import { closedCycle } from './closed-cycle';
import { groupOf, keepSamplesOf } from './group-records';
import { openQuestionFolder, type QuestionFolder } from './questions';

// Records that are emptied, cut or full of zeros count as missing, and a night goes on without them.

const cut = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2);
const LEFT: readonly [string, (bytes: Buffer) => Buffer][] = [
  ['emptied', () => Buffer.alloc(0)],
  ['full of zeros', (bytes) => Buffer.alloc(bytes.length)],
  ['cut', cut],
];

const DATE = '2026-11-21';
const at = (cycle: number) => ({ trainRun: 'sums', name: `00000${cycle}` });

let questions: QuestionFolder;
beforeEach(async () => (questions = await openQuestionFolder()));
afterEach(() => questions.close());

const open = (store: Store, date = DATE) => openNight({ store, config: questions.config() }, { date });

interface TornStore {
  readonly store: Store;
  readonly groups: readonly string[];
  readonly tear: (key: string, left: (bytes: Buffer) => Buffer) => Promise<void>;
}

/** A night in its third and last cycle, whose groups are over. */
async function openStore(keys?: KeyRing): Promise<TornStore> {
  const inner = new SqliteStore(join(await freshFolder(), 'store.db'));
  const store = keys ? new EncryptedStore(inner, keys) : inner;
  const { settings } = await open(store);
  for (const cycle of [1, 2]) await closeCycle(store, closedCycle(settings, DATE, cycle));
  const records = [groupOf(0, [1, 0]), groupOf(1, [0, 1]), groupOf(2, [1, 0])];
  for (const group of records) await keepSamplesOf(store, group);
  return {
    store,
    groups: await Promise.all(records.map((group) => keepGroup(store, group))),
    tear: async (key, left) => {
      const name = keys ? nameOfKey(key, keys.first) : key;
      await inner.write(name, left((await inner.read(name)) ?? Buffer.alloc(0)));
    },
  };
}

/** Lets the night come to its end, and opens the next one; returns how many rollouts were learned from. */
async function goOn({ store, groups }: TornStore): Promise<number> {
  const { settings, train } = await open(store);
  expect(await new QuestionSets(store).read({ set: train.set, index: 0 })).toMatchObject({ id: 'a' });
  const asked = { trainRun: 'sums', cycle: 7, checkpoint: at(6), temperature: 1, groups };
  const { rollouts } = await writeBatch(store, asked);
  await end(store, settings, groups);
  return rollouts;
}

async function end(store: Store, settings: TrainingSettings, groups: readonly string[] = []): Promise<void> {
  await closeCycle(store, closedCycle(settings, DATE, 3, groups));
  await closeNight(store, { trainRun: 'sums', date: DATE, done: 3, checkpoint: at(3), decision: 'Yes.' });
  expect(await readRun(store, 'sums')).toMatchObject({ done: 3, checkpoint: at(3) });
  expect(await open(store, '2026-11-22')).toMatchObject({ night: { first: 4 }, from: at(3) });
  await readNights(store, 'sums');
}

describe.each<[string, KeyRing | undefined]>([
  ['a database', undefined],
  ['an encrypted one', keyRing('damaged')],
])('in %s', (_, keys) => {
  test.each(LEFT)('nearly all may be %s', async (__, left) => {
    const torn = await openStore(keys);
    const whole = [torn.groups[0], 'samples/0.json', metricsKey('sums', 2)];
    for (const key of await torn.store.list('')) if (!whole.includes(key)) await torn.tear(key, left);
    expect(await readRun(torn.store, 'sums')).toMatchObject({ done: 2, checkpoint: at(2) });
    expect(await goOn(torn)).toBe(2);
  });
});

test('a night whose own record is lost in the middle of it is closed', async () => {
  const { store, tear } = await openStore();
  const { settings } = await open(store);
  await tear(nightKey('sums', DATE), cut);
  await end(store, settings);
});

test('a gate counts without the record of another that is lost', async () => {
  const { store, tear, groups } = await openStore();
  const judge = (date: string) => {
    const [candidate, baseline] = [at(2), at(1)].map((policy) => ({ policy, groups }));
    if (!candidate || !baseline) throw new Error('two of them');
    const rules = { maxCostRatio: null, margin: 0, heldOut: 'x' };
    return judgeCandidate(store, { trainRun: 'sums', date, candidate, baseline, ...rules });
  };
  await judge('2026-11-20');
  await tear(gateKey('sums', '2026-11-20'), cut);
  expect(await judge(DATE)).toMatchObject({ judgement: 1 });
});
