import { Worker, type WorkerOptions, type WorkerPlugin } from '@temporalio/worker';
import { conductorsOf } from '../config/cards';
import type { Config } from '../config/schema';
import { providerQueue } from '../protocol/names';

export interface SideQueue {
  readonly taskQueue: string;
  readonly activities: object;
  /** Turns the main worker's options into those of this queue's worker. */
  readonly adapt: (options: WorkerOptions) => WorkerOptions;
}

/** Options of a worker after the plugins before ours have changed them, and before those after ours do. */
interface Mount {
  readonly options: WorkerOptions;
  readonly ours: WorkerPlugin;
}

/** Polls further queues beside each worker that a plugin is mounted on, with its connection, options and plugins. */
export class SideWorkers {
  /** By namespace and task queue. Options are without Temporal's defaults, which it would not accept a second time. */
  private readonly mounted = new Map<string, Mount>();
  private readonly running = new WeakSet<Worker>();

  constructor(private readonly queuesBeside: (taskQueue: string) => readonly SideQueue[]) {}

  mount(options: WorkerOptions, ours: WorkerPlugin): void {
    this.mounted.set(keyOf(options), { options: { ...options }, ours });
  }

  async run(main: Worker, runMain: () => Promise<void>): Promise<void> {
    const mount = this.mounted.get(keyOf(main.options));
    // A connection's plugin is mounted on every worker of that connection, the side workers included.
    if (mount === undefined || this.running.has(main)) return runMain();
    this.running.add(main);
    const queues = this.queuesBeside(main.options.taskQueue);
    if (queues.length === 0) return runMain();
    const beside = queues.map((queue) => this.create(queue, main, mount));
    return runTogether(main, runMain, beside);
  }

  private async create(queue: SideQueue, main: Worker, { options, ours }: Mount): Promise<Worker> {
    const worker = await Worker.create({
      ...queue.adapt(options),
      ...(main.connection && { connection: main.connection }),
      plugins: pluginsBeside(options, ours),
      taskQueue: queue.taskQueue,
      activities: queue.activities,
    });
    this.running.add(worker);
    return worker;
  }
}

function keyOf({ namespace = 'default', taskQueue }: Pick<WorkerOptions, 'namespace' | 'taskQueue'>): string {
  return JSON.stringify([namespace, taskQueue]);
}

/** Returns all plugins but ours and the connection's. Those before ours already changed the options: they only run. */
function pluginsBeside({ plugins = [], connection }: WorkerOptions, ours: WorkerPlugin): WorkerPlugin[] {
  const own = plugins.slice(0, plugins.length - (connection?.plugins ?? []).length);
  const place = plugins.indexOf(ours);
  return own.flatMap((plugin, index) => {
    if (index === place) return [];
    if (index > place) return [plugin];
    const { name } = plugin;
    return [{ name, runWorker: (worker, next) => plugin.runWorker?.(worker, next) ?? next(worker) }];
  });
}

/** Returns a queue for the calls of each provider, if the configuration keeps them apart. */
export function providerQueues(
  config: Config,
  taskQueue: string,
  { activities, servesCheckpoints }: { readonly activities: object; readonly servesCheckpoints: boolean },
): SideQueue[] {
  const { callsPerSecond, queuePerProvider } = config.temporal;
  if (!queuePerProvider) return [];
  const models = [...config.workers, ...config.baselines].flatMap((each) =>
    'model' in each ? each.provider : [],
  );
  // A run may name a checkpoint, whatever Conductor the configuration has.
  const checkpoints = servesCheckpoints ? (['policy'] as const) : [];
  const conductors = conductorsOf(config).map(([, { provider }]) => provider);
  return [...new Set([...conductors, ...checkpoints, ...models])].map((provider) => ({
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
 * Runs workers as one: when the first of them ends, stopped or failed, all others are shut down.
 * @param first runs at once, by `run`, since its owner may stop it at any time
 * @throws the error of the first failed worker in the given order, once all have ended
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
