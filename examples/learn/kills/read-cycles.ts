import { createHash } from 'node:crypto';
import type { FileStore } from '../../../src/store/file-store';
import { batchKey, metricsFolder } from '../../../src/training/keys';
import type { CycleMetrics } from '../../../src/training/progress';

/** What a cycle came to, as far as an undisturbed one comes to the same. */
export interface CycleFacts {
  readonly cycle: number;
  readonly weightsSha256: string | null;
  /** Over the bytes of the batch, whatever they were packed with. */
  readonly batchSha256: string;
  readonly rewardMean: number;
  readonly verdicts: CycleMetrics['verdicts'];
  readonly heldOut: number | null;
}

/** What is kept of each cycle of a night. */
export async function readCycles(store: FileStore, trainRun: string): Promise<CycleFacts[]> {
  const keys = await store.list(metricsFolder(trainRun));
  return Promise.all(keys.map((key) => readCycle(store, trainRun, key)));
}

async function readCycle(store: FileStore, trainRun: string, key: string): Promise<CycleFacts> {
  const { cycle, weightsSha256, rewardMean, verdicts, heldOut } = JSON.parse(
    String(await store.read(key)),
  ) as CycleMetrics;
  const batch = (await store.read(batchKey(trainRun, cycle))) ?? Buffer.from('');
  const batchSha256 = createHash('sha256').update(batch).digest('hex');
  return { cycle, weightsSha256, batchSha256, rewardMean, verdicts, heldOut };
}
