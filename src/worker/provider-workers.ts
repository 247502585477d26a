import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { ModelProvider } from '../pool/card';
import type { Config } from '../pool/config-schema';
import type { ConductorActivities } from '../protocol/activities';
import { providerQueue } from '../protocol/provider-queue';
import { runTogether } from './run-together';

/**
 * The workers that poll the queues of a configuration's providers: beside each worker that a plugin is mounted on, with
 * its connection and options, and for activities alone.
 */
export class ProviderWorkers {
  /** By task queue, as they were before Temporal put its defaults in, which would not be taken twice. */
  private readonly mounted = new Map<string, WorkerOptions>();
  private readonly own = new WeakSet<Worker>();

  constructor(
    private readonly config: Config,
    private readonly activities: ConductorActivities,
  ) {}

  /** To be told the options of a worker that will run. */
  mount(options: WorkerOptions): void {
    const forActivities = { ...options };
    delete forActivities.workflowsPath;
    delete forActivities.workflowBundle;
    delete forActivities.nexusServices;
    this.mounted.set(options.taskQueue, forActivities);
  }

  /** Runs a worker, and with it the ones for the providers' queues where there are such queues. */
  async run(main: Worker, runMain: () => Promise<void>): Promise<void> {
    const mounted = this.mounted.get(main.options.taskQueue);
    // A plugin of the connection is mounted on every worker there, on these too.
    const isAlone = !this.config.temporal.queuePerProvider || this.own.has(main) || mounted === undefined;
    if (isAlone) return runMain();
    const beside = providersOf(this.config).map((provider) => this.create(provider, main, mounted));
    return runTogether(main, runMain, beside);
  }

  private async create(provider: ModelProvider, main: Worker, mounted: WorkerOptions): Promise<Worker> {
    // Plugins that came after ours may have changed these.
    const { dataConverter, interceptors, taskQueue } = main.options;
    const rate = this.config.temporal.callsPerSecond?.[provider];
    const worker = await Worker.create({
      ...mounted,
      ...(main.connection && { connection: main.connection }),
      ...(dataConverter && { dataConverter }),
      interceptors,
      plugins: [],
      activities: { ...this.activities },
      taskQueue: providerQueue(taskQueue, provider),
      ...(rate !== undefined && { maxTaskQueueActivitiesPerSecond: rate }),
    });
    this.own.add(worker);
    return worker;
  }
}

function providersOf({ conductor, workers }: Config): ModelProvider[] {
  const models = workers.flatMap((each) => ('model' in each ? each.provider : []));
  return [...new Set([conductor.provider, ...models])];
}
