import type { Store } from '../../../src';
import { questionSetKey } from '../../../src/evaluation/contract';
import { keepLines } from '../../../src/store/texts';
import { writeNight } from '../../../src/training/activities/records';
import { groupKey, metricsKey } from '../../../src/training/store-keys';
import type { GroupRecord } from '../../../src/training/records';
import { madeUpCycles } from '../cli/plot/made-up-cycles';

/** Leaves in a store what a night of one cycle does: its questions, its groups, and what it came to. */
export async function keepRun(
  store: Store,
  trainRun: string,
  questions: readonly object[],
  groups: readonly GroupRecord[],
): Promise<void> {
  const { key: set } = await keepLines(store, questions, questionSetKey);
  const count = questions.length;
  const date = '2026-11-21';
  await writeNight(store, {
    schema: 1,
    trainRun,
    date,
    first: 1,
    last: 1,
    done: 1,
    checkpoint: null,
    begun: null,
    train: { set, count, topics: [count] },
    heldOut: { set, count },
    openedAt: `${date}T00:00:00.000Z`,
    closedAt: null,
    decision: null,
  });
  for (const cycle of madeUpCycles(1)) {
    await store.write(metricsKey(trainRun, 1), Buffer.from(JSON.stringify(cycle)));
  }
  for (const group of groups) {
    const kept = { ...group, trainRun, cycle: 1 };
    await store.write(groupKey(kept), Buffer.from(JSON.stringify(kept)));
  }
}
