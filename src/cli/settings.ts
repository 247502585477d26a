import { keyFor } from '../config/keys';
import type { LoadedConfig } from '../config/load';
import { resolveRun } from '../config/resolve-run';
import { configuredKeys } from '../encryption/keys';
import { fetchSmolLm2 } from '../local/complete';
import type { PoolFilter } from '../protocol/activities';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import type { ResolvedRun } from '../protocol/run';
import { loadTrainableConfig } from '../training/config/load';
import type { TrainableConfig } from '../training/config/schema';
import { say } from './terminal';

/** Loads the configuration for a command that starts no work of its own. */
export async function loadSettings(path: string | undefined): Promise<TrainableConfig> {
  const { config } = await load(path);
  return config;
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
  await bringWeights(cards);
  return config;
}

async function load(path: string | undefined): Promise<LoadedConfig<TrainableConfig>> {
  const loaded = await loadTrainableConfig({
    env: process.env,
    cwd: process.cwd(),
    path,
  });
  // Nothing is begun in the clear because the keys are missing.
  configuredKeys(loaded.config);
  return loaded;
}

/** Downloads the default local model before anything waits for it, and says so: it is 93 MB once. */
async function bringWeights(cards: readonly (ConductorCard | ModelCard)[]): Promise<void> {
  const isWanted = cards.some(({ provider, model }) => provider === 'local' && model === 'smollm2');
  if (isWanted) await fetchSmolLm2({ say });
}

/** Every card whose model is called over a provider's API: the Conductor's and those of the workers. */
export function modelCardsOf({ conductor, workers }: ResolvedRun): (ConductorCard | ModelCard)[] {
  return [conductor, ...workers.filter((worker) => worker.kind === 'model')];
}
