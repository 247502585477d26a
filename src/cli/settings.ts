import { keyFor } from '../config/keys';
import type { LoadedConfig } from '../config/load';
import { resolveRun } from '../config/resolve-run';
import type { TrainableConfig } from '../training/config/schema';
import { configuredKeys } from '../encryption/keys';
import { fetchSmolLm2 } from '../local/complete';
import type { PoolFilter } from '../protocol/activities';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import type { ResolvedRun } from '../protocol/run';
import { loadTrainableConfig } from '../training/config/load';
import { say } from './terminal';

/** Keeps what commands leave behind in a folder: the embedded server's database, logs, records, and the cost index. */
export const FOLDER = '.conductor';

/** Loads the configuration for a command that starts no work of its own. */
export async function loadSettings(path: string | undefined): Promise<TrainableConfig> {
  return (await load(path)).config;
}

/**
 * Loads the configuration for a command that makes calls, passes on what one should know about it, and makes sure
 * that this process could serve a run: none is started that cannot succeed.
 *
 * @throws ConfigError for an unknown worker, an empty pool, or a key that is not in the environment
 */
export async function loadServable(
  path: string | undefined,
  pool: PoolFilter = {},
): Promise<TrainableConfig> {
  const { config, notices } = await load(path);
  const cards = modelCardsOf(resolveRun(config, { pool }));
  for (const card of cards) keyFor(card, config, process.env);
  for (const notice of notices) say(notice);
  // The default local model is downloaded before anything waits for it: 93 MB, once.
  const isLocal = cards.some(({ provider, model }) => provider === 'local' && model === 'smollm2');
  if (isLocal) await fetchSmolLm2({ say });
  return config;
}

async function load(path: string | undefined): Promise<LoadedConfig<TrainableConfig>> {
  const loaded = await loadTrainableConfig({ env: process.env, cwd: process.cwd(), path });
  // Nothing is written unencrypted because the keys are missing.
  configuredKeys(loaded.config);
  return loaded;
}

/** Every card whose model is called over a provider's API: the Conductor's and those of the workers. */
export function modelCardsOf({ conductor, workers }: ResolvedRun): (ConductorCard | ModelCard)[] {
  return [conductor, ...workers.filter((worker) => worker.kind === 'model')];
}
