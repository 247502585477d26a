import { closeCycle, closeNight } from '../../../src/training/activities/close-cycle';
import { openNight } from '../../../src/training/activities/open-night';
import * as records from '../../../src/training/activities/records';
import { groupsFolder, metricsKey, runKey } from '../../../src/training/store-keys';
import type { TrainingSettings } from '../../../src/training/config';
import { closedCycle, groupOf } from './group-records';
import { openQuestionFolder, type QuestionFolder } from './questions';

const DATE = '2026-11-21';

let folder: QuestionFolder;
let settings: TrainingSettings;
beforeEach(async () => {
  folder = await openQuestionFolder();
  ({ settings } = await openNight({ store: folder.store, config: folder.config() }, { date: DATE }));
});

const checkpoint = (cycle: number) => ({ trainRun: 'sums', name: `00000${cycle}` });

test('summarizes a cycle in figures, and keeps them under its number', async () => {
  const groups = await Promise.all([
    records.keepGroup(folder.store, groupOf(0, [1, 0.5])),
    records.keepGroup(folder.store, groupOf(1, [0.5, null])),
  ]);
  const request = { ...closedCycle(settings, DATE, 1, groups), dropped: 1, heldOut: 0.75 };
  const metrics = await closeCycle(folder.store, request);

  const verdicts = { correct: 1, wrong: 2, unparseable: 0, ungraded: 1 };
  const figures = { verdicts, draws: 2, dropped: 1, heldOut: 0.75, workerTokens: 15 };
  expect(metrics).toMatchObject({
    trainRun: 'sums',
    cycle: 1,
    night: DATE,
    checkpoint: 'sums/000001',
    ...figures,
  });
  expect(metrics.rewardMean).toBeCloseTo(2 / 3, 12);
  expect(await records.readCycle(folder.store, 'sums', 1)).toEqual(metrics);
});

test('reports the cycle by which a topic has collapsed to one bad shape, also when it is read back', async () => {
  const collapses: (string | null)[] = [];
  for (let cycle = 1; cycle <= 6; cycle += 1) {
    const rewards = Array.from({ length: 16 }, (_, place) => (cycle === 1 || place % 2 === 0 ? 1 : 0.5));
    const group = await records.keepGroup(folder.store, groupOf(0, rewards, { cycle, topic: 'law' }));
    const { collapse } = await closeCycle(folder.store, closedCycle(settings, DATE, cycle, [group]));
    collapses.push(collapse);
  }
  expect(collapses.slice(0, 4)).toEqual([null, null, null, null]);
  expect(collapses[5]).toContain(
    'since cycle 2 nearly all plans have the same shape, and hardly any other is tried, for law (50 %',
  );
  expect((await records.readCycle(folder.store, 'sums', 6))?.collapse).toBe(collapses[5]);
});

test('an unreadable earlier cycle delays the alarm, and stops nothing', async () => {
  await folder.store.write(metricsKey('sums', 1), Buffer.from('{"schema":9}'));
  expect(await closeCycle(folder.store, closedCycle(settings, DATE, 2))).toMatchObject({ collapse: null });
});

const closeCycles = async (...cycles: readonly number[]): Promise<void> => {
  for (const cycle of cycles) await closeCycle(folder.store, closedCycle(settings, DATE, cycle));
};
const standing = async () => [
  await records.readNight(folder.store, 'sums', DATE),
  await records.readTrainRun(folder.store, 'sums'),
];
const at = (cycle: number) => ({ done: cycle, checkpoint: checkpoint(cycle) });

test('closing a cycle advances night and training run, and a late attempt reverts nothing', async () => {
  await closeCycles(1);
  expect(await standing()).toMatchObject([{ ...at(1), closedAt: null }, at(1)]);
  await closeCycles(2, 1);
  expect(await standing()).toMatchObject([at(2), at(2)]);
});

const isClosed = { closedAt: expect.any(String) as string, decision: 'Judged.' };

test.each([
  ['is kept with what it left', at(1), null, [{ ...at(1), ...isClosed, last: 3 }, at(1)]],
  [
    'may have the next one begin elsewhere',
    at(2),
    checkpoint(1),
    [at(2), { done: 2, checkpoint: checkpoint(1) }],
  ],
])('a night that is closed, even twice, %s', async (_, end, next, then) => {
  await closeCycles(1, ...(end.done > 1 ? [2] : []));
  const over = { trainRun: 'sums', date: DATE, ...end, decision: 'Judged.', next };
  await closeNight(folder.store, over);
  await closeNight(folder.store, over);
  expect(await standing()).toMatchObject(then);
});

test('closing a night late reverts nothing of a training run that has moved on', async () => {
  await closeCycles(1, 2);
  await closeNight(folder.store, { trainRun: 'sums', date: DATE, ...at(1), decision: null });
  expect(await standing()).toMatchObject([{ done: 2, closedAt: null }, at(2)]);
});

test('a night that was never opened cannot be closed, and an altered record is not taken for a missing one', async () => {
  const unknown = { trainRun: 'sums', date: '2026-01-01', ...at(1), decision: null };
  await expect(closeNight(folder.store, unknown)).rejects.toThrow('night 2026-01-01 of sums is not in');
  await folder.store.write(runKey('sums'), Buffer.from('{"schema":9}'));
  await expect(records.readTrainRun(folder.store, 'sums')).rejects.toThrow(
    'training/sums/run.json in the store',
  );
});

test('training groups are stored together, and those of each trial separately', async () => {
  const groups = [
    groupOf(0, [1]),
    groupOf(0, [1], { purpose: 'evaluation' }),
    groupOf(0, [1], { purpose: 'evaluation', checkpoint: 'sums/000001' }),
    groupOf(0, [1], { purpose: 'canary' }),
    groupOf(0, [1], { purpose: 'evaluation', checkpoint: 'the prompted Conductor', samples: null }),
  ];
  const keys = await Promise.all(groups.map((group) => records.keepGroup(folder.store, group)));
  expect(new Set(keys).size).toBe(groups.length);
  expect(keys.filter((key) => key.startsWith(groupsFolder('sums', 7)))).toEqual([keys[0]]);
  for (const [index, key] of keys.entries())
    expect(await records.readGroup(folder.store, key)).toEqual(groups[index]);
});
