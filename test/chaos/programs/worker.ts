/** A worker in a process of its own, made to be killed; told `memory`, it collects its garbage and says what is left. */
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { ConductorPlugin } from '../../../src';
import type { ConfigInput } from '../../../src/config/schema';
import type { Memory } from '../evidence';
import { WitnessStore } from '../witness-store';

/** What the program is given, as JSON. */
export interface WorkerSetting {
  readonly address: string;
  readonly bundle: string;
  readonly config: ConfigInput;
  readonly taskQueue: string;
  /** Folder of the store. */
  readonly store: string;
  /** File that takes one line for each keeping. */
  readonly witness: string;
}

async function main(): Promise<void> {
  const [json = ''] = process.argv.slice(2);
  const { address, bundle, config, taskQueue, store, witness } = JSON.parse(json) as WorkerSetting;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    // Temporal's native part would write to stdout, which belongs to the answers.
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue,
    workflowBundle: { codePath: bundle },
    plugins: [new ConductorPlugin({ config, store: new WitnessStore(store, witness) })],
    stickyQueueScheduleToStartTimeout: '2s',
  });
  console.log('"ready"');
  void tellMemory();
  await worker.run();
}

/** Ends the process with its starter, whose end closes stdin. */
async function tellMemory(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line !== 'memory') continue;
    collect();
    const { rss, heapUsed } = process.memoryUsage();
    console.log(JSON.stringify({ rss, heapUsed } satisfies Memory));
  }
  process.exit();
}

void main();
