import { join } from 'node:path';
import { runChild, type ChildProgram } from '../../research/support/programs';
import { atTheEnd } from '../support/at-the-end';
import type { Stage } from '../support/stage';
import type { Halt } from './halting-store';
import type { WorkerSetting } from './programs/worker';

const started: ChildProgram[] = [];

// Processes that a failed test left running.
atTheEnd(() => Promise.all(started.map((child) => child.kill())));

/** Starts a stage's worker in a process of its own, so that it can be killed. */
export async function startWorkerProcess(stage: Stage, halt: Halt | null = null): Promise<ChildProgram> {
  const setting: WorkerSetting = {
    address: stage.temporal.address,
    bundle: process.env.TEST_WORKFLOW_BUNDLE ?? '',
    taskQueue: stage.taskQueue,
    config: stage.config,
    store: stage.store.url,
    halt,
  };
  const child = runChild(join(__dirname, 'programs', 'worker.ts'), [JSON.stringify(setting)], process.env);
  started.push(child);
  expect(await child.nextMessage()).toBe('ready');
  return child;
}
