import { UsageError } from '../../cli/exit-code';
import { counted } from '../../trace/describe';
import type { Store } from '../../store/store';
import { type CheckpointRef, readCheckpointId } from '../ids';
import { listTrainRuns } from '../client/read-runs';
import { checkpointsFolder, manifestKey } from '../store-keys';
import { readPolicy } from '../../evaluation/methods/conductor';

/** The checkpoints that methods name, `<training run>/<name>`. */
function checkpointsOf(methods: readonly string[]): string[] {
  const named = methods.flatMap((method) => {
    const [name, ...argument] = method.split(':');
    return name === 'conductor' ? (readPolicy(argument.join(':'))?.checkpoint ?? []) : [];
  });
  return [...new Set(named)];
}

/** @throws UsageError for a checkpoint that the store does not know, with those that it knows */
export async function checkCheckpoints(store: Store, methods: readonly string[]): Promise<void> {
  for (const id of checkpointsOf(methods)) {
    const checkpoint = readCheckpointId(id);
    if (checkpoint === null || (await store.read(manifestKey(checkpoint.trainRun, checkpoint.name))) !== null)
      continue;
    throw new UsageError(`there is no checkpoint ${id}: ${await describeKnown(store, checkpoint)}`);
  }
}

async function describeKnown(store: Store, { trainRun }: CheckpointRef): Promise<string> {
  const keys = await store.list(checkpointsFolder(trainRun));
  const names = keys
    .map((key) => key.slice(checkpointsFolder(trainRun).length).replace(/\.json$/, ''))
    .sort();
  const [first, ...more] = names;
  if (first !== undefined) {
    const range =
      more.length === 0 ? first : `${counted(names.length, 'checkpoint')}, ${first} to ${more.at(-1) ?? ''}`;
    return `training run ${trainRun} has ${range}; those that training does not keep are gone`;
  }
  const runs = await listTrainRuns(store);
  if (runs.length === 0) return `no night was trained in the store ${store.url}`;
  return `there is no training run ${trainRun} in the store ${store.url}, but ${runs.join(', ')}`;
}
