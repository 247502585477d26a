import type { ModelCard, ConductorCard } from '../pool/card';
import type { Config } from '../pool/config-schema';
import { keyFor } from '../pool/keys';
import { loadConfig } from '../pool/load-config';
import { resolveRun } from '../pool/resolve-run';
import type { PoolFilter } from '../protocol/activities';
import type { ResolvedRun } from '../protocol/run';
import { say } from './terminal';

/** Loads the configuration of this command, and passes on what one should know about it. */
export async function loadSettings(path: string | undefined): Promise<Config> {
  const { config, notices } = await loadConfig({
    env: process.env,
    cwd: process.cwd(),
    ...(path === undefined ? {} : { path }),
  });
  for (const notice of notices) say(notice);
  return config;
}

/**
 * Makes sure that this process could serve a run, so that none is started that cannot succeed.
 *
 * @throws ConfigError for an unknown worker, an empty pool, or a key that is not in the environment
 */
export function requireServable(config: Config, pool: PoolFilter = {}): void {
  const run = resolveRun(config, { pool });
  for (const card of modelCardsOf(run)) keyFor(card, config, process.env);
}

/** Every card whose model is called over a provider's API: the Conductor's and those of the workers. */
export function modelCardsOf({ conductor, workers }: ResolvedRun): (ConductorCard | ModelCard)[] {
  return [conductor, ...workers.filter((worker) => worker.kind === 'model')];
}
