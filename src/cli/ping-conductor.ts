import { configuredKeys } from '../encryption/configured-keys';
import { bindCheckpoint, servedPolicyOf } from '../policy/bind-checkpoint';
import { ConfigError } from '../pool/config-error';
import type { Config } from '../pool/config-schema';
import { resolveRun } from '../pool/resolve-run';
import { openStore } from '../store/open-store';
import { pingModel, type Ping } from './ping-model';

/** Calls the Conductor once; where it is a checkpoint, the one that would write the next run's plan. */
export async function pingConductor(config: Config): Promise<Ping> {
  const run = resolveRun(config);
  if (run.conductor.provider !== 'policy') return pingModel(run.conductor, config);
  const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
  try {
    const { conductor } = await bindCheckpoint(store, config, run);
    return await pingModel(conductor, config, await servedPolicyOf(store, conductor));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problem: error.message, latencyMs: 0, tokens: null, nanoUsd: null };
  }
}
