import { SimplePlugin } from '@temporalio/plugin';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import { createActivities } from './activities';
import { backgroundOpenAI } from './activities/models';
import { createPacing } from './activities/rate-limits/pacing';
import { parseConfig, readConfigFile } from './config/load';
import type { ConfigInput } from './config/schema';
import { checkEncrypted } from './encryption/codec';
import { configuredKeys } from './encryption/keys';
import { complete } from './local/complete';
import { openStore } from './store/open-store';
import type { Store } from './store/store';
import { createTrainingActivities } from './training/activities';
import { createAskPolicy } from './training/policy/ask';
import { SideWorkers } from './worker/side-workers';

/** What a worker that solves is given. */
export interface ConductorPluginOptions {
  /** Path of a `conductor.yaml`, or its content as an object. Keys are read from this process's environment. */
  readonly config: string | ConfigInput;
  /**
   * Where long texts, finished answers and the ledger lie.
   *
   * @default what the configuration's `store` names, encrypted where it says `encryption`
   */
  readonly store?: Store;
}

/**
 * Turns any Temporal worker into one that solves: registers the activities of a solve and of training, and nothing else.
 *
 * The workflow is yours to export, since a plugin cannot add code to a bundle; and the worker's data converter,
 * interceptors and runtime stay as they are. Where the configuration says `encryption`, the data converter is yours to
 * mount, too (`encryptionConverter`), and a worker that would send in the clear is refused. Where it says
 * `queuePerProvider` or `training.slots`, workers for the queues that are kept apart run beside yours, and end with it.
 *
 * @example
 * // workflows.ts
 * export * from 'temporal-conductor/workflows';
 * // worker.ts
 * await Worker.create({ ...options, plugins: [new ConductorPlugin({ config: 'conductor.yaml' })] });
 */
export class ConductorPlugin extends SimplePlugin {
  private readonly encrypts: boolean;
  private readonly sideWorkers: SideWorkers;

  constructor(options: ConductorPluginOptions) {
    const config =
      typeof options.config === 'string' ? readConfigFile(options.config) : parseConfig(options.config);
    const store = options.store ?? openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
    const activities = createActivities({
      config,
      store,
      complete,
      background: backgroundOpenAI,
      pacing: createPacing(config),
      env: process.env,
    });
    const training = createTrainingActivities({ config, store, askPolicy: createAskPolicy() });
    super({ name: 'temporal-conductor.ConductorPlugin', activities: { ...activities, ...training } });
    this.sideWorkers = new SideWorkers(config, { solving: activities, training });
    this.encrypts = config.encryption !== undefined;
  }

  override configureWorker(options: WorkerOptions): WorkerOptions {
    if (this.encrypts) checkEncrypted(options.dataConverter);
    const configured = super.configureWorker(options);
    this.sideWorkers.mount(configured);
    return configured;
  }

  override runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    return this.sideWorkers.run(worker, () => super.runWorker(worker, next));
  }
}
