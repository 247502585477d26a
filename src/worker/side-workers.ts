import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config/schema';
import { providerQueue } from '../protocol/names';

/** A queue that is polled beside a worker's own. */
export interface SideQueue {
  readonly taskQueue: string;
  readonly activities: object;
  /** Turns the options of the worker beside it into those of its own. */
  readonly adapt: (options: WorkerOptions) => WorkerOptions;
}

/** Polls further queues beside each worker that a plugin is mounted on, with its connection and options. */
export class SideWorkers {
  /** By task queue, as they were before Temporal put its defaults in, which it would not take twice. */
  private readonly mounted = new Map<string, WorkerOptions>();
  private readonly own = new WeakSet<Worker>();

  /** @param queuesBeside the queues to poll beside a worker's own, by its task queue */
  constructor(private readonly queuesBeside: (taskQueue: string) => readonly SideQueue[]) {}

  mount(options: WorkerOptions): void {
    this.mounted.set(options.taskQueue, { ...options });
  }

  async run(main: Worker, runMain: () => Promise<void>): Promise<void> {
    const { taskQueue } = main.options;
    const mounted = this.mounted.get(taskQueue);
    // A plugin of the connection is mounted on every worker there, on these too.
    if (mounted === undefined || this.own.has(main)) return runMain();
    const queues = this.queuesBeside(taskQueue);
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

/** A queue for the calls of each provider, where the configuration keeps them apart. */
export function providerQueues(
  { conductor, workers, temporal: { queuePerProvider, callsPerSecond } }: Config,
  taskQueue: string,
  activities: object,
): SideQueue[] {
  const models = workers.flatMap((each) => ('model' in each ? each.provider : []));
  const providers = queuePerProvider ? [...new Set([conductor.provider, ...models])] : [];
  return providers.map((provider) => ({
    taskQueue: providerQueue(taskQueue, provider),
    activities,
    adapt: (options) => forCalls(options, callsPerSecond?.[provider]),
  }));
}

function forCalls(options: WorkerOptions, perSecond: number | undefined): WorkerOptions {
  const adapted = { ...options };
  delete adapted.workflowsPath;
  delete adapted.workflowBundle;
  delete adapted.nexusServices;
  return { ...adapted, ...(perSecond !== undefined && { maxTaskQueueActivitiesPerSecond: perSecond }) };
}

export type Runnable = Pick<Worker, 'run' | 'getState' | 'shutdown'>;

/**
 * Runs workers as one: whichever of them ends first, whether asked to or broken down, ends them all.
 *
 * @param first runs at once, by `run`, since its owner may stop it from the first moment on
 * @param others on their way to run beside it
 * @throws what the first to break down threw, once all have ended
 */
export async function runTogether(
  first: Runnable,
  run: () => Promise<void>,
  others: readonly Promise<Runnable>[],
): Promise<void> {
  const runs = [run(), ...others.map(async (other) => (await other).run())];
  const stop = (worker: Runnable): void => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const stopAll = (): void => {
    for (const each of [Promise.resolve(first), ...others]) each.then(stop, () => undefined);
  };
  const ends = await Promise.allSettled(runs.map((each) => each.finally(stopAll)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
