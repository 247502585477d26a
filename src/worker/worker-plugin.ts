import { SimplePlugin } from '@temporalio/plugin';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../activities';
import type { Dependencies, PolicyProvider } from '../activities/model-call';
import { backgroundOpenAI } from '../activities/models/openai';
import { LiveLog } from '../activities/live-log';
import { createPacing } from '../activities/rate-limits/pacing';
import { conductorsOf } from '../config/cards';
import { ConfigError } from '../config/errors';
import type { Config } from '../config/schema';
import { checkEncrypted, forWorker } from '../encryption/codec';
import { complete } from '../local/downloads';
import type { ConductorActivities } from '../protocol/activity-contract';
import { CALL_WORKER } from '../protocol/names';
import { providerQueues, type SideQueue, SideWorkers } from './side-workers';

/** Parts that an add-on adds to a worker, besides those of a solve. */
export interface AddOn {
  readonly activities: object;
  /** Serves checkpoints; without it, the worker serves none. */
  readonly policy?: PolicyProvider;
  queuesBeside?(taskQueue: string, solving: ConductorActivities): readonly SideQueue[];
}

/** Base of our plugins: adds activities, checks encryption and polls further queues beside a worker. */
export abstract class WorkerPlugin extends SimplePlugin {
  private readonly encryption: Config['encryption'];
  private readonly solving: ConductorActivities;
  private readonly sideWorkers: SideWorkers;

  /** @throws ConfigError if a Conductor is a checkpoint and the plugin serves none */
  protected constructor(
    name: string,
    { config, store }: Pick<Dependencies, 'config' | 'store'>,
    addOn?: AddOn,
  ) {
    const trained = conductorsOf(config).find(([, { provider }]) => provider === 'policy');
    if (trained !== undefined && addOn?.policy === undefined) {
      throw new ConfigError(
        `${trained[0]}.provider is policy, and ${name} serves no checkpoints: mount TrainingPlugin of ` +
          'temporal-conductor/training instead',
      );
    }
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
      policy: addOn?.policy,
      env: process.env,
    });
    super({ name, activities: { ...solving, ...addOn?.activities } });
    this.encryption = config.encryption;
    this.solving = solving;
    this.sideWorkers = new SideWorkers((taskQueue) => [
      ...providerQueues(config, taskQueue, {
        activities: solving,
        servesCheckpoints: addOn?.policy !== undefined,
      }),
      ...(addOn?.queuesBeside?.(taskQueue, solving) ?? []),
    ]);
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
    if (this.encryption) checkEncrypted(options.dataConverter, this.encryption);
    const { dataConverter } = options;
    const configured = super.configureWorker({
      ...options,
      ...(dataConverter && { dataConverter: forWorker(dataConverter) }),
    });
    this.sideWorkers.mount(configured, this);
    return configured;
  }

  override runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    return this.sideWorkers.run(worker, () => super.runWorker(worker, next));
  }
}
