import { SimplePlugin } from '@temporalio/plugin';
import { Worker, type WorkerOptions, type WorkerPlugin as AnyPlugin } from '@temporalio/worker';
import {
  createActivities,
  createPacing,
  createTools,
  type Dependencies,
  LiveLog,
  type PolicyProvider,
} from '../activities';
import { backgroundOpenAI } from '../activities/models';
import { workerIdentity } from '../runtime/worker-identity';
import { conductorsOf } from '../config/cards';
import { durationMs } from '../config/duration';
import { ConfigError } from '../config/errors';
import type { Config } from '../config/schema';
import { showsContent } from '../config/span-content';
import { checkEncrypted, forWorker } from '../encryption/codec';
import { complete } from '../local/complete';
import type { ConductorActivities } from '../protocol/activity-contract';
import { CALL_WORKER, providerQueue } from '../protocol/names';

/** Parts that an add-on adds to a worker, besides those of a solve. */
export interface AddOn {
  readonly activities: object;
  /** Serves checkpoints; without it, the worker serves none. */
  readonly policy?: PolicyProvider;
  queuesBeside?(taskQueue: string, solving: ConductorActivities): readonly SideQueue[];
}

/** Queue that a worker of its own polls beside the main worker. */
interface SideQueue {
  readonly taskQueue: string;
  readonly activities: object;
  /** Turns the main worker's options into those of this queue's worker. */
  readonly adapt: (options: WorkerOptions) => WorkerOptions;
}

/**
 * Base of our plugins: adds activities, checks encryption, and polls further queues beside each worker that it is
 * mounted on, with that worker's connection, options and plugins.
 */
export abstract class WorkerPlugin extends SimplePlugin {
  private readonly config: Config;
  private readonly solving: ConductorActivities;
  private readonly tools: Dependencies['tools'];
  /**
   * Options of workers by namespace and task queue, after the plugins before ours have changed them, and before those
   * after ours do. They are without Temporal's defaults, which it would not accept a second time.
   */
  private readonly mounted = new Map<string, WorkerOptions>();
  private readonly running = new WeakSet<Worker>();

  /** @throws ConfigError if a Conductor is a checkpoint and the plugin serves none */
  protected constructor(
    name: string,
    { config, store }: Pick<Dependencies, 'config' | 'store'>,
    private readonly addOn?: AddOn,
  ) {
    const trained = conductorsOf(config).find(([, { provider }]) => provider === 'policy');
    if (trained !== undefined && addOn?.policy === undefined) {
      throw new ConfigError(
        `${trained[0]}.provider is policy, and ${name} serves no checkpoints: mount TrainingPlugin of ` +
          'temporal-conductor/training instead',
      );
    }
    // Refuses what it would put on spans before it serves anything.
    showsContent(config, process.env);
    const tools = createTools(config, store, process.env);
    const solving = createActivities({
      config,
      store,
      complete: (request) => {
        const policy = request.card.provider === 'policy' ? addOn?.policy : undefined;
        return policy === undefined ? complete(request) : policy.complete(request);
      },
      background: backgroundOpenAI,
      pacing: createPacing(config, store),
      liveLog: new LiveLog(store),
      tools,
      policy: addOn?.policy,
      env: process.env,
    });
    super({ name, activities: { ...solving, ...addOn?.activities } });
    this.config = config;
    this.solving = solving;
    this.tools = tools;
  }

  /** @throws ConfigError if another plugin of ours is mounted on the worker: each would partly replace the other */
  override configureWorker(options: WorkerOptions): WorkerOptions {
    const there: Partial<ConductorActivities> = { ...options.activities };
    if ((there[CALL_WORKER] ?? this.solving[CALL_WORKER]) !== this.solving[CALL_WORKER]) {
      throw new ConfigError(
        `a worker takes one plugin of temporal-conductor, and ${CALL_WORKER} is registered on this one already: ` +
          'mount the other plugin on a worker with another task queue, or take it away',
      );
    }
    const { dataConverter } = options;
    const { encryption } = this.config;
    if (encryption) checkEncrypted(dataConverter, encryption);
    const configured = super.configureWorker({
      // By default, a process that stalls for a fifth of the timeout is taken for lost, and its calls are paid again.
      maxHeartbeatThrottleInterval: durationMs(this.config.temporal.heartbeat) / 2,
      ...options,
      identity: options.identity ?? workerIdentity(),
      ...(dataConverter && { dataConverter: forWorker(dataConverter) }),
    });
    this.mounted.set(queueKey(configured), { ...configured });
    return configured;
  }

  override runWorker(main: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const runMain = (): Promise<void> => super.runWorker(main, next);
    const options = this.mounted.get(queueKey(main.options));
    // A connection's plugin is mounted on every worker of that connection, those of further queues included.
    if (options === undefined || this.running.has(main)) return runMain();
    this.running.add(main);
    const queues = this.queuesBeside(main.options.taskQueue);
    return runTogether(
      main,
      runMain,
      queues.map((queue) => this.createBeside(main, options, queue)),
    ).finally(() => this.tools.closeIdle());
  }

  private queuesBeside(taskQueue: string): SideQueue[] {
    const { solving, addOn } = this;
    return [...this.providerQueues(taskQueue), ...(addOn?.queuesBeside?.(taskQueue, solving) ?? [])];
  }

  /** Returns a queue for the calls of each provider, if the configuration keeps them apart. */
  private providerQueues(taskQueue: string): SideQueue[] {
    const { config, solving: activities, addOn } = this;
    const { callsPerSecond, queuePerProvider } = config.temporal;
    if (!queuePerProvider) return [];
    const models = [...config.workers, ...config.baselines].flatMap((each) =>
      'model' in each ? each.provider : [],
    );
    // A run may name a checkpoint, whatever Conductor the configuration has.
    const checkpoints = addOn?.policy === undefined ? [] : (['policy'] as const);
    const conductors = conductorsOf(config).map(([, { provider }]) => provider);
    return [...new Set([...conductors, ...checkpoints, ...models])].map((provider) => ({
      taskQueue: providerQueue(taskQueue, provider),
      activities,
      adapt: (options) => forCalls(options, callsPerSecond?.[provider]),
    }));
  }

  private async createBeside(main: Worker, options: WorkerOptions, queue: SideQueue): Promise<Worker> {
    const worker = await Worker.create({
      ...queue.adapt(options),
      ...(main.connection && { connection: main.connection }),
      plugins: pluginsBeside(options, this),
      taskQueue: queue.taskQueue,
      activities: queue.activities,
    });
    this.running.add(worker);
    return worker;
  }
}

function queueKey({
  namespace = 'default',
  taskQueue,
}: Pick<WorkerOptions, 'namespace' | 'taskQueue'>): string {
  return JSON.stringify([namespace, taskQueue]);
}

/** Returns all plugins but ours and the connection's. Those before ours already changed the options: they only run. */
function pluginsBeside({ plugins = [], connection }: WorkerOptions, ours: AnyPlugin): AnyPlugin[] {
  const own = plugins.slice(0, plugins.length - (connection?.plugins ?? []).length);
  const place = plugins.indexOf(ours);
  return own.flatMap((plugin, index) => {
    if (index === place) return [];
    if (index > place) return [plugin];
    const { name } = plugin;
    return [{ name, runWorker: (worker, next) => plugin.runWorker?.(worker, next) ?? next(worker) }];
  });
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
