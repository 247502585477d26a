import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Config } from '../pool/config-schema';
import { runTogether } from './run-together';
import { sideQueues, type SideActivities, type SideQueue } from './side-queues';

/**
 * The workers that poll what a configuration keeps apart: beside each worker that a plugin is mounted on, with its
 * connection and options.
 */
export class SideWorkers {
  /** By task queue, as they were before Temporal put its defaults in, which would not be taken twice. */
  private readonly mounted = new Map<string, WorkerOptions>();
  private readonly own = new WeakSet<Worker>();

  constructor(
    private readonly config: Config,
    private readonly activities: SideActivities,
  ) {}

  /** To be told the options of a worker that will run. */
  mount(options: WorkerOptions): void {
    this.mounted.set(options.taskQueue, { ...options });
  }

  /** Runs a worker, and with it the ones for the queues beside its own, where there are such queues. */
  async run(main: Worker, runMain: () => Promise<void>): Promise<void> {
    const { taskQueue } = main.options;
    const mounted = this.mounted.get(taskQueue);
    // A plugin of the connection is mounted on every worker there, on these too.
    if (mounted === undefined || this.own.has(main)) return runMain();
    const queues = sideQueues(this.config, taskQueue, this.activities);
    if (queues.length === 0) return runMain();
    const beside = queues.map((queue) => this.create(queue, main, mounted));
    return runTogether(main, runMain, beside);
  }

  private async create(queue: SideQueue, main: Worker, mounted: WorkerOptions): Promise<Worker> {
    // Plugins that came after ours may have changed these.
    const { dataConverter, interceptors } = main.options;
    const worker = await Worker.create({
      ...queue.adapt(mounted),
      ...(main.connection && { connection: main.connection }),
      ...(dataConverter && { dataConverter }),
      interceptors,
      plugins: [],
      taskQueue: queue.taskQueue,
      activities: queue.activities,
    });
    this.own.add(worker);
    return worker;
  }
}
