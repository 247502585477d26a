import type { Store } from '../../../src';
import { questionSetKey } from '../../../src/evaluation/definitions';
import { keepLines, writeRecord } from '../../../src/store/records';
import { keepGroup, writeNight } from '../../../src/training/activities/records';
import { metricsKey } from '../../../src/training/store-keys';
import type { GroupRecord, NightRecord } from '../../../src/training/records';
import { madeUpCycles } from '../../report/made-up-cycles';

const DATE = '2026-11-21';

/** Returns the record of a finished night of one cycle, of the training run `nightly`. */
export const aNight = (changes: Partial<NightRecord> = {}): NightRecord => ({
  schema: 1,
  trainRun: 'nightly',
  date: DATE,
  first: 1,
  last: 1,
  done: 1,
  checkpoint: null,
  begun: null,
  train: { set: 'questions/train', count: 1, topics: [1] },
  heldOut: { set: 'questions/held-out', count: 1 },
  openedAt: `${DATE}T02:30:00.000Z`,
  closedAt: null,
  decision: null,
  ...changes,
});

/** Stores what a night of one cycle leaves behind: its questions, groups and results. */
export async function keepRun(
  store: Store,
  trainRun: string,
  questions: readonly object[],
  groups: readonly GroupRecord[],
): Promise<void> {
  const { key: set } = await keepLines(store, questions, questionSetKey);
  const count = questions.length;
  const heldOut = { set, count };
  await writeNight(store, aNight({ trainRun, heldOut, train: { ...heldOut, topics: [count] } }));
  for (const cycle of madeUpCycles(1)) await writeRecord(store, metricsKey(trainRun, 1), cycle);
  for (const group of groups) await keepGroup(store, { ...group, trainRun, cycle: 1 });
}
