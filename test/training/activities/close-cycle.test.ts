import { closeCycle, closeNight } from '../../../src/training/activities/close-cycle';
import { openNight } from '../../../src/training/activities/open-night';
import {
  keepGroup,
  readCycle,
  readGroup,
  readNight,
  readRun,
} from '../../../src/training/activities/records';
import { groupsFolder, metricsKey, runKey } from '../../../src/training/store-keys';
import { cycleMetricsSchema } from '../../../src/training/records';
import type { TrainingSettings } from '../../../src/training/config/resolve';
import { closedCycle } from './closed-cycle';
import { groupOf } from './group-records';
import { openQuestionFolder, type QuestionFolder } from './questions';

const DATE = '2026-11-21';

let folder: QuestionFolder;
let settings: TrainingSettings;
beforeEach(async () => {
  folder = await openQuestionFolder();
  ({ settings } = await openNight({ store: folder.store, config: folder.config() }, { date: DATE }));
});

const checkpoint = (cycle: number) => ({ trainRun: 'sums', name: `00000${cycle}` });

test('a cycle in figures, kept under its number', async () => {
  const groups = await Promise.all([
    keepGroup(folder.store, groupOf(0, [1, 0.5])),
    keepGroup(folder.store, groupOf(1, [0.5, null])),
  ]);
  const request = { ...closedCycle(settings, DATE, 1, groups), dropped: 1, heldOut: 0.75 };
  const metrics = await closeCycle(folder.store, request);

  expect(metrics).toMatchObject({
    trainRun: 'sums',
    cycle: 1,
    night: DATE,
    checkpoint: 'sums/000001',
    verdicts: { correct: 1, wrong: 2, unparseable: 0, ungraded: 1 },
    draws: 2,
    dropped: 1,
    heldOut: 0.75,
    workerTokens: 15,
  });
  expect(metrics.rewardMean).toBeCloseTo(2 / 3, 12);
  const kept = await folder.store.read(metricsKey('sums', 1));
  expect(cycleMetricsSchema.parse(JSON.parse(kept?.toString() ?? ''))).toEqual(metrics);
});

test('the cycle by which a topic has come down to one bad shape says so, whoever reads it', async () => {
  const collapses: (string | null)[] = [];
  for (let cycle = 1; cycle <= 6; cycle += 1) {
    const rewards = Array.from({ length: 16 }, (_, place) =>
      cycle === 1 && place > 1 ? 1 : place % 2 === 0 ? 1 : 0.5,
    );
    const group = await keepGroup(folder.store, groupOf(0, rewards, { cycle, topic: 'law' }));
    const { collapse } = await closeCycle(folder.store, closedCycle(settings, DATE, cycle, [group]));
    collapses.push(collapse);
  }
  expect(collapses.slice(0, 4)).toEqual([null, null, null, null]);
  expect(collapses[5]).toContain(
    'since cycle 2 nearly all plans have one shape, and hardly another is tried, for law (50 %',
  );
  expect((await readCycle(folder.store, 'sums', 6))?.collapse).toBe(collapses[5]);
});

test('a cycle before it that cannot be read delays the alarm, and stops nothing', async () => {
  await folder.store.write(metricsKey('sums', 1), Buffer.from('{"schema":9}'));
  expect(await closeCycle(folder.store, closedCycle(settings, DATE, 2))).toMatchObject({ collapse: null });
});

const closeCycles = async (...cycles: readonly number[]): Promise<void> => {
  for (const cycle of cycles) await closeCycle(folder.store, closedCycle(settings, DATE, cycle));
};
const standing = async () => [
  await readNight(folder.store, 'sums', DATE),
  await readRun(folder.store, 'sums'),
];
const at = (cycle: number) => ({ done: cycle, checkpoint: checkpoint(cycle) });

test('night and training run stand where the cycle has brought them, and a late attempt takes nothing back', async () => {
  await closeCycles(1);
  expect(await standing()).toMatchObject([{ ...at(1), closedAt: null }, at(1)]);
  await closeCycles(2, 1);
  expect(await standing()).toMatchObject([at(2), at(2)]);
});

test('a night that is closed is kept with what it left, once', async () => {
  await closeCycles(1);
  const over = { trainRun: 'sums', date: DATE, ...at(1), decision: 'It serves.' };
  await closeNight(folder.store, over);
  await closeNight(folder.store, over);
  const closed = { last: 3, closedAt: expect.any(String) as string, decision: 'It serves.' };
  expect(await standing()).toMatchObject([{ ...at(1), ...closed }, at(1)]);
});

test('a night that its gate found worse stands where it ended, and the next one begins elsewhere', async () => {
  await closeCycles(1, 2);
  const over = { trainRun: 'sums', date: DATE, ...at(2), decision: 'It is worse.' };
  await closeNight(folder.store, { ...over, next: checkpoint(1) });
  expect(await standing()).toMatchObject([at(2), { done: 2, checkpoint: checkpoint(1) }]);
});

test('a night that is closed late takes nothing back from a training run that has gone on', async () => {
  await closeCycles(1, 2);
  await closeNight(folder.store, { trainRun: 'sums', date: DATE, ...at(1), decision: null });
  expect(await standing()).toMatchObject([{ done: 2, closedAt: null }, at(2)]);
});

test('a night that was never opened cannot be closed', async () => {
  const unknown = { trainRun: 'sums', date: '2026-01-01', ...at(1), decision: null };
  await expect(closeNight(folder.store, unknown)).rejects.toThrow('night 2026-01-01 of sums is not in');
});

test('a record that was altered is not taken for one that never was', async () => {
  await folder.store.write(runKey('sums'), Buffer.from('{"schema":9}'));
  await expect(readRun(folder.store, 'sums')).rejects.toThrow('training/sums/run.json in the store');
});

test('groups to learn from lie together, those of each trial apart', async () => {
  const groups = [
    groupOf(0, [1]),
    groupOf(0, [1], { purpose: 'evaluation' }),
    groupOf(0, [1], { purpose: 'evaluation', checkpoint: 'sums/000001' }),
    groupOf(0, [1], { purpose: 'canary' }),
    groupOf(0, [1], { purpose: 'evaluation', checkpoint: 'the prompted Conductor', samples: null }),
  ];
  const keys = await Promise.all(groups.map((group) => keepGroup(folder.store, group)));
  expect(new Set(keys).size).toBe(groups.length);
  expect(keys.filter((key) => key.startsWith(groupsFolder('sums', 7)))).toEqual([keys[0]]);
  for (const [index, key] of keys.entries())
    expect(await readGroup(folder.store, key)).toEqual(groups[index]);
});
