import { readGivenConfig } from './config/load';
import type { ConfigInput } from './config/schema';
import { configuredStore } from './store/open-store';
import type { Store } from './store/store';
import { WorkerPlugin } from './worker/worker-plugin';

export interface ConductorPluginOptions {
  /**
   * Path of a `conductor.yaml`, or its content. Keys are read from this process's environment.
   * @default what `CONDUCTOR_CONFIG` names, else `conductor.yaml`
   */
  readonly config?: string | ConfigInput;
  /**
   * Where long texts, finished answers and the ledger lie.
   * @default what the configuration names, encrypted where it says `encryption`
   */
  readonly store?: Store;
}

/**
 * Turns any Temporal worker into one that solves: registers the activities of solves, and nothing else.
 * The workflow is yours to export, since a plugin cannot add code to a bundle; the worker's data converter,
 * interceptors and runtime stay as they are. Where the configuration says `encryption`, mount the data converter too
 * (`encryptionConverter`): a worker that would send in the clear is refused. Where it says `queuePerProvider`, workers
 * for those queues run beside yours, and end with it. Keep the workflow cache (`maxCachedWorkflows`) above 0: without
 * one, runs that start side by side wait seconds for each other.
 * @example
 * // workflows.ts
 * export * from 'temporal-conductor/workflows';
 * // worker.ts
 * await Worker.create({ ...options, plugins: [new ConductorPlugin()] });
 */
export class ConductorPlugin extends WorkerPlugin {
  constructor({ config: given, store }: ConductorPluginOptions = {}) {
    const config = readGivenConfig(given);
    super('temporal-conductor.ConductorPlugin', { config, store: store ?? configuredStore(config) });
  }
}
