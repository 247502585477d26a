import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config/schema';
import type { ConductorActivities } from '../protocol/activities';
import type { ModelProvider } from '../protocol/cards';
import { providerQueue } from '../protocol/names';
import type { TrainingActivities } from '../training/contract';
import { groupQueue } from '../training/night-ids';

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

/** What a worker can do. */
export interface SideActivities {
  readonly solving: ConductorActivities;
  readonly training: TrainingActivities;
}

/** A queue that is polled beside a worker's own. */
export interface SideQueue {
  readonly taskQueue: string;
  readonly activities: object;
  /** Makes the options of the worker beside it into those of its own. */
  readonly adapt: (options: WorkerOptions) => WorkerOptions;
}

/**
 * The queues that a configuration keeps apart: one for the calls of each provider, and one for the groups of nights with
 * the slots that they are given.
 */
function sideQueues(config: Config, taskQueue: string, { solving, training }: SideActivities): SideQueue[] {
  const { queuePerProvider, callsPerSecond } = config.temporal;
  const providers = queuePerProvider ? providersOf(config) : [];
  const slots = config.training?.slots ?? null;
  return [
    ...providers.map((provider) => ({
      taskQueue: providerQueue(taskQueue, provider),
      activities: { ...solving },
      adapt: (options: WorkerOptions) => forCalls(options, callsPerSecond?.[provider]),
    })),
    ...(slots === null ? [] : [slots]).map((count) => ({
      taskQueue: groupQueue(taskQueue),
      activities: { ...solving, ...training },
      adapt: (options: WorkerOptions) => forGroups(options, count),
    })),
  ];
}

function providersOf({ conductor, workers }: Config): ModelProvider[] {
  const models = workers.flatMap((each) => ('model' in each ? each.provider : []));
  return [...new Set([conductor.provider, ...models])];
}

/** Activities alone. */
function forCalls(options: WorkerOptions, perSecond: number | undefined): WorkerOptions {
  const adapted = { ...options };
  delete adapted.workflowsPath;
  delete adapted.workflowBundle;
  delete adapted.nexusServices;
  return { ...adapted, ...(perSecond !== undefined && { maxTaskQueueActivitiesPerSecond: perSecond }) };
}

/** Workflows too: what a group does waits where the group does. */
function forGroups(options: WorkerOptions, slots: number): WorkerOptions {
  const adapted = { ...options };
  delete adapted.nexusServices;
  // It would decide on the slots, and they are given.
  delete adapted.tuner;
  return { ...adapted, maxConcurrentActivityTaskExecutions: slots };
}

/** What it takes to run a worker and to stop it. */
export type Runnable = Pick<Worker, 'run' | 'getState' | 'shutdown'>;

/**
 * Runs workers as one: whichever of them ends first, as it was told to or because it broke down, ends them all.
 *
 * @param first runs at once, for whoever holds it may stop it from the first moment on
 * @param run what makes it run
 * @param others on their way to run beside it
 * @throws what the first to break down threw, when all have ended
 */
export async function runTogether(
  first: Runnable,
  run: () => Promise<void>,
  others: readonly Promise<Runnable>[],
): Promise<void> {
  const runs = [run(), ...others.map(async (other) => (await other).run())];
  const stopAll = (): void => {
    for (const each of [Promise.resolve(first), ...others]) each.then(stop, () => undefined);
  };
  const ends = await Promise.allSettled(runs.map((each) => each.finally(stopAll)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function stop(worker: Runnable): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
