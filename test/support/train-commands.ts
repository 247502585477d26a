import { type Ended, runCommand, type RunningCommand, startCommand } from '../cli/command';
import { makeFolder } from '../cli/folder';
import { TEST_KEY } from './search-for-secrets';
import type { Stage } from './stage';

/** A folder with the stage's configuration, in which to run `temporal-conductor train`. */
export interface TrainFolder {
  readonly path: string;
  train(...args: string[]): Promise<Ended>;
  start(...args: string[]): RunningCommand;
  close(): Promise<void>;
}

export async function openTrainFolder({ config, taskQueue, temporal }: Stage): Promise<TrainFolder> {
  const folder = await makeFolder();
  await folder.write('conductor.yaml', { ...config, temporal: { ...config.temporal, taskQueue } });
  const setting = { cwd: folder.path, env: { TEMPORAL_ADDRESS: temporal.address, STAGE_KEY: TEST_KEY } };
  return {
    path: folder.path,
    train: (...args) => runCommand(['train', ...args], setting),
    start: (...args) => startCommand(['train', ...args], setting),
    close: () => folder.remove(),
  };
}
