import { parseTrainable } from '../../../src/training/config/load';
import { openFiles } from '../../../src/training/artifacts';
import { forgetCheckpoints } from '../../../src/training/activities/forget-checkpoints';
import { writeNight, advanceRun } from '../../../src/training/activities/records';
import { weightsFolder, weightsKey } from '../../../src/training/store-keys';
import { promote, readManifest, rollback, writeManifest } from '../../../src/training/policy/serving';
import type { NightRecord } from '../../../src/training/records';
import { aManifest } from '../../support/a-manifest';
import { openQuestionFolder, type QuestionFolder } from './questions';

let folder: QuestionFolder;
beforeEach(async () => {
  folder = await openQuestionFolder();
  for (const name of ['base', '000001', '000002', '000003', '000004', '000005', '000006']) {
    await writeManifest(folder.store, aManifest({ trainRun: 'sums', name }));
  }
});
afterEach(() => folder.close());

const sums = (name: string) => ({ trainRun: 'sums', name });
const KEEP_NONE = { last: 0, every: null };

async function forget(config = folder.config()): Promise<readonly string[]> {
  const { kept } = await forgetCheckpoints(
    { store: folder.store, config },
    { trainRun: 'sums', needed: [sums('000006')], keep: KEEP_NONE },
  );
  return kept;
}

const OTHERS_NIGHT: NightRecord = {
  schema: 1,
  trainRun: 'other',
  date: '2026-11-21',
  first: 1,
  last: 4,
  done: 2,
  checkpoint: { trainRun: 'other', name: '000002' },
  begun: sums('000003'),
  train: { set: 'questions/a', count: 1, topics: [1] },
  heldOut: { set: 'questions/b', count: 1 },
  openedAt: '2026-11-21T03:30:00.000Z',
  closedAt: null,
  decision: null,
};

test('what nobody needs is forgotten, and nobody can come to need it any more', async () => {
  expect(await forget()).toEqual(['000006', 'base']);
  await expect(readManifest(folder.store, sums('000005'))).rejects.toThrow('sums/000005 has no manifest');
  await expect(promote(folder.store, sums('000005'), { reason: '', by: 'person' })).rejects.toThrow(
    'no manifest',
  );
  expect(await readManifest(folder.store, sums('base'))).toMatchObject({ name: 'base' });
});

test('what the trainer kept goes after what names it, also of checkpoints that were never published', async () => {
  const files = openFiles(folder.artifacts);
  for (const name of ['base', 'warm', '000004', '000006', '000007']) {
    await files.write(weightsKey('sums', name), Buffer.from('{"schema":1,"files":[]}'));
  }
  await files.write(weightsKey('other', '000001'), Buffer.from('{"schema":1,"files":[]}'));
  expect(await forget()).toEqual(['000006', 'base', 'warm']);
  expect(await files.list(weightsFolder('sums'))).toEqual(
    ['000006', 'base', 'warm'].map((name) => weightsKey('sums', name)),
  );
  expect(await files.list(weightsFolder('other'))).toHaveLength(1);
});

test('what serves stays, and so does everything that rollbacks would bring back', async () => {
  for (const name of ['000002', '000004'])
    await promote(folder.store, sums(name), { reason: '', by: 'gate' });
  expect(await forget()).toEqual(['000002', '000004', '000006', 'base']);
  await rollback(folder.store, '');
  expect(await forget()).toEqual(['000002', '000006', 'base']);
});

test('what the nights of another training run stand on and began with stays while they last', async () => {
  await advanceRun(folder.store, { schema: 1, trainRun: 'third', done: 0, checkpoint: sums('000001') });
  await writeNight(folder.store, OTHERS_NIGHT);
  await writeNight(folder.store, { ...OTHERS_NIGHT, date: '2026-11-22', checkpoint: sums('000005') });
  expect(await forget()).toEqual(['000001', '000003', '000005', '000006', 'base']);
  for (const date of ['2026-11-21', '2026-11-22']) {
    await writeNight(folder.store, { ...OTHERS_NIGHT, date, closedAt: '2026-11-23T00:00:00.000Z' });
  }
  expect(await forget()).toEqual(['000001', '000006', 'base']);
});

test('an interrupted night holds nothing more once a later one has trained what it left', async () => {
  const other = { schema: 1, trainRun: 'other', checkpoint: null } as const;
  await writeNight(folder.store, OTHERS_NIGHT);
  await advanceRun(folder.store, { ...other, done: OTHERS_NIGHT.done });
  expect(await forget()).toEqual(['000003', '000006', 'base']);
  await advanceRun(folder.store, { ...other, done: OTHERS_NIGHT.done + 1 });
  expect(await forget()).toEqual(['000006', 'base']);
});

test('the checkpoint that the configuration keeps to stays', async () => {
  const conductor = { provider: 'policy', checkpoint: 'sums/000002' } as const;
  const { conductor: pinned } = parseTrainable({ conductor, workers: folder.config().workers });
  expect(await forget({ ...folder.config(), conductor: pinned })).toEqual(['000002', '000006', 'base']);
});
