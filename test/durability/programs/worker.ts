/** A worker in a process of its own, made to be killed; given a moment, it hangs there and reports it. */
import { NativeConnection, Worker } from '@temporalio/worker';
import { EvaluationPlugin } from '../../../src/evaluation';
import type { ConfigInput } from '../../../src';
import { openStore } from '../../../src/store/open-store';
import { type Halt, haltingStore } from '../halting-store';
import { keepStdout } from './keep-stdout';

/** Settings of the program, as JSON. */
export interface WorkerSetting {
  readonly address: string;
  readonly bundle: string;
  readonly taskQueue: string;
  readonly config: ConfigInput;
  readonly store: string;
  readonly halt: Halt | null;
}

async function main(): Promise<void> {
  keepStdout();
  const [json = ''] = process.argv.slice(2);
  const { address, bundle, taskQueue, config, store, halt } = JSON.parse(json) as WorkerSetting;
  const halting = haltingStore(openStore(store, process.cwd()), halt, () => {
    console.log('"halted"');
  });
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue,
    workflowBundle: { codePath: bundle },
    plugins: [new EvaluationPlugin({ config, store: halting })],
    // Time that the server waits for a lost worker before it gives its runs to another.
    stickyQueueScheduleToStartTimeout: '1s',
    maxHeartbeatThrottleInterval: '500ms',
  });
  console.log('"ready"');
  await worker.run();
}

void main();
