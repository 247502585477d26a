import { activitiesOf, type CodeTools, withCodeTools } from './activities';
import { createConfigReader } from './config/load';
import { noticesOf } from './config/resolve-run';
import { type Config, type ConfigInput, configSchema } from './config/schema';
import { configuredStore } from './store/open-store';
import type { Store } from './store/store';
import { WorkerPlugin } from './worker/worker-plugin';

export interface ConductorPluginOptions {
  /**
   * Path of a `conductor.yaml`, or its content. Keys are read from this process's environment.
   * @default the file that `CONDUCTOR_CONFIG` names, else `conductor.yaml`
   */
  readonly config?: string | ConfigInput;
  /**
   * Store for long texts, finished answers and the ledger.
   * @default the configured store, encrypted if `encryption` is set
   */
  readonly store?: Store;
  /** Functions of yours that models may call, by the names under which cards list them in `tools`. */
  readonly tools?: CodeTools;
}

/**
 * Lets any Temporal worker run solves: registers their activities, and sets the worker's `identity` and
 * `maxHeartbeatThrottleInterval` unless you do.
 * You must export the workflow yourself, since a plugin cannot add code to a bundle; the worker's data converter,
 * interceptors and runtime stay as they are. If the configuration sets `encryption`, mount the data converter too
 * (`encryptionConverter`): a worker that would send plaintext is refused. If it sets `queuePerProvider`, workers for
 * those queues run beside yours and stop with it. Keep the workflow cache (`maxCachedWorkflows`) above 0: without it,
 * runs that start at the same time wait seconds for each other.
 * @example
 * // workflows.ts
 * export * from 'temporal-conductor/workflows';
 * // worker.ts
 * await Worker.create({ ...options, plugins: [new ConductorPlugin()] });
 */
export class ConductorPlugin extends WorkerPlugin {
  constructor({ config: given, store, tools = {} }: ConductorPluginOptions = {}) {
    const withTools = (written: unknown): unknown => withCodeTools(written, tools);
    const config = createConfigReader<ConfigInput, Config>(configSchema, withTools, noticesOf).readGiven(
      given,
    );
    const dependencies = { config, store: store ?? configuredStore(config) };
    super('temporal-conductor.ConductorPlugin', dependencies, { activities: activitiesOf(tools) });
  }
}
