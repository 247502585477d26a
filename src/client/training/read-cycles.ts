import type { z } from 'zod';
import { eachInParallel } from '../../store/each-in-parallel';
import type { Store } from '../../store/store';
import { cycleMetricsSchema } from '../../training/cycle-metrics-schema';
import { groupRecordSchema } from '../../training/group-record-schema';
import { groupsFolder, metricsFolder, metricsKey } from '../../training/keys';
import type { CycleMetrics } from '../../training/progress';
import type { GroupRecord } from '../../training/rollout';

/**
 * The metrics of all cycles of a training run that are over, the first cycle first; empty where there are none.
 *
 * @throws Error that names a record that cannot be read
 */
export async function readMetrics(store: Store, trainRun: string): Promise<CycleMetrics[]> {
  const cycles = await readAll(store, await store.list(metricsFolder(trainRun)), cycleMetricsSchema);
  return cycles.sort((a, b) => a.cycle - b.cycle);
}

/** The metrics of one cycle; null where it is not over, or never was. */
export async function readCycle(store: Store, trainRun: string, cycle: number): Promise<CycleMetrics | null> {
  return readRecord(store, metricsKey(trainRun, cycle), cycleMetricsSchema);
}

/**
 * The groups of a cycle in the order they were drawn, later rounds after the first; those of a cycle under way as far
 * as they are over.
 *
 * @throws Error that names a record that cannot be read
 */
export async function readGroups(store: Store, trainRun: string, cycle: number): Promise<GroupRecord[]> {
  const groups = await readAll(store, await store.list(groupsFolder(trainRun, cycle)), groupRecordSchema);
  return groups.sort((a, b) => a.draw - b.draw || a.round - b.round);
}

async function readAll<Item>(
  store: Store,
  keys: readonly string[],
  schema: z.ZodType<Item>,
): Promise<Item[]> {
  const items: Item[] = [];
  await eachInParallel(keys, async (key) => {
    const item = await readRecord(store, key, schema);
    if (item !== null) items.push(item);
  });
  return items;
}

async function readRecord<Item>(store: Store, key: string, schema: z.ZodType<Item>): Promise<Item | null> {
  const bytes = await store.read(key);
  if (bytes === null) return null;
  const { success, data, error } = schema.safeParse(parse(bytes));
  if (success) return data;
  const place = error.issues[0]?.path.join('.') ?? '';
  throw new Error(
    `${key} in the store ${store.url} cannot be read${place === '' ? '' : ` at ${place}`}: ` +
      'it is of another version of this package, or was altered',
  );
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
