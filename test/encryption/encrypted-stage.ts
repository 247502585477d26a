import { Client } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { ConductorClient, ConductorPlugin, encryptionConverter, type KeyRing } from '../../src';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { openStage, type Stage, type StageOptions } from '../support/stage';
import { KEYS_VARIABLE } from './test-keys';

/** A stage whose processes each hold keys of their own. */
export interface EncryptedStage extends Stage {
  /** Returns the client of a process with these keys. */
  conductorWith(keys: KeyRing): ConductorClient;
  clientWith(keys: KeyRing): Client;
  storeWith(keys: KeyRing): EncryptedStore;
  /** Runs a worker with these keys for as long as `work` takes. */
  whileWorkingWith<T>(keys: KeyRing, work: () => Promise<T>, options?: Partial<WorkerOptions>): Promise<T>;
}

export async function openEncryptedStage(options: StageOptions): Promise<EncryptedStage> {
  const stage = await openStage({
    ...options,
    configure: (config, url) => ({
      ...(options.configure?.(config, url) ?? config),
      encryption: { keyEnv: KEYS_VARIABLE },
    }),
  });
  const { connection } = stage.temporal.client;
  const storeWith = (keys: KeyRing): EncryptedStore => new EncryptedStore(stage.store, keys);
  const clientWith = (keys: KeyRing): Client =>
    new Client({ connection, dataConverter: encryptionConverter(keys) });
  return {
    ...stage,
    storeWith,
    clientWith,
    conductorWith: (keys) =>
      new ConductorClient({
        client: clientWith(keys),
        store: storeWith(keys),
        taskQueue: stage.taskQueue,
      }),
    whileWorkingWith: (keys, work, workerOptions = {}) =>
      stage.whileWorking(work, {
        dataConverter: encryptionConverter(keys),
        plugins: [new ConductorPlugin({ config: stage.config, store: storeWith(keys) })],
        // Lets the next worker begin without waiting for the previous one.
        stickyQueueScheduleToStartTimeout: '1s',
        ...workerOptions,
      }),
  };
}
