import { readFileSync, statSync } from 'node:fs';
import { hasEngine, howToGetEngine } from '../../activities/models';
import { nameOfCard, VENDORS } from '../../config/cards';
import { configuredCards, keyFor, modelCardsOf } from '../../config/api-keys';
import { isSmallModel } from '../../config/default-pool';
import { configPath, loadConfig, type LoadedConfig } from '../../config/load';
import { haveNoPrice, priceSettingOf, resolveRun, unpricedOf } from '../../config/resolve-run';
import { configuredKeys } from '../../encryption/key-ring';
import { fetchSmolLm2 } from '../../local/downloads';
import type { SolveInput } from '../../protocol/input';
import type { ResolvedRun } from '../../protocol/cards';
import type { TrainableConfig } from '../../training/config';
import { UsageError } from '../../errors';
import { say } from './terminal';
import { errandsOfTools } from '../../config/tools';
import { foreignKeys, foreignStore, requireTrust, untrusted } from './trust';

export interface WorkOptions {
  readonly config?: string;
  readonly trust?: boolean;
}

/** Loads the configuration for a command that makes no calls of its own, but may open the store. */
export async function loadSettings(options: WorkOptions): Promise<TrainableConfig> {
  const { config } = await loadChecked(options.config);
  await requireTrust(foreignPlaces(config), fileOf(options), options.trust);
  return config;
}

/** Loads the configuration for a command that starts or asks what it names, without calls of models. */
export async function loadTrusted(options: WorkOptions): Promise<TrainableConfig> {
  const { config } = await loadChecked(options.config);
  await checkTrust(config, options);
  return config;
}

/** Loads the configuration for a command with calls. @throws ConfigError if this process cannot make all of them */
export async function loadServable(
  options: WorkOptions,
  asked: Pick<SolveInput, 'pool' | 'conductor'> = {},
): Promise<TrainableConfig> {
  const { config, notices, unpriced } = await loadChecked(options.config);
  const cards = modelCardsOf(resolveRun(config, asked));
  const local = cards.filter(({ provider }) => provider === 'local');
  if (local.length > 0) requireEngine();
  for (const card of cards) keyFor(card, config, process.env);
  await checkTrust(config, options);
  for (const notice of [...notices, ...unpriced]) say(notice);
  // Downloads 93 MB, once, before anything waits for it.
  if (cards.some(isSmallModel)) await fetchSmolLm2({ say });
  return config;
}

function requireEngine(): void {
  if (hasEngine()) return;
  const keys = Object.values(VENDORS).map(({ apiKeyEnv }) => apiKeyEnv);
  const what = 'provider "local", the default without a key and a model server, has no engine';
  throw new UsageError(`${what}: ${howToGetEngine()}; or set one of ${keys.join(', ')}`);
}

/** Refuses a configuration that sends credentials to servers where they do not belong, unless its folder is trusted. */
export async function checkTrust(config: TrainableConfig, options: WorkOptions): Promise<void> {
  await requireTrust(foreignPairs(config), fileOf(options), options.trust);
}

/** Returns the pairs of key and place that the configuration is not yet trusted with. */
export function untrustedOf(config: TrainableConfig, options: WorkOptions): Promise<string[]> {
  return untrusted(foreignPairs(config), fileOf(options));
}

function foreignPairs(config: TrainableConfig): string[] {
  const keys = foreignKeys(configuredCards(config), process.env);
  return [...keys, ...errandsOfTools(config), ...foreignPlaces(config)];
}

/** Returns the credentials that open the store and the artifacts of training. */
export function foreignPlaces({ store, training }: TrainableConfig): string[] {
  return [...new Set([store, training?.artifacts ?? []].flat().flatMap(foreignStore))];
}

export function fileOf({ config: path }: WorkOptions): string {
  return configPath({ env: process.env, cwd: process.cwd(), path });
}

async function loadChecked(path: string | undefined): Promise<LoadedConfig<TrainableConfig>> {
  const loaded = await loadFile(path);
  // Missing keys must fail here, so that nothing is written unencrypted.
  configuredKeys(loaded.config);
  return loaded;
}

/** Loads a configuration; the schema of training, which is slow to load, is used only for a file that mentions it. */
export async function loadFile(path: string | undefined): Promise<LoadedConfig<TrainableConfig>> {
  const options = { env: process.env, cwd: process.cwd(), path };
  if (mentions(configPath(options), 'training')) {
    const { loadTrainableConfig } = await import('../../training/config/index.js');
    return loadTrainableConfig(options);
  }
  const loaded = await loadConfig(options);
  // No schema has checked this section.
  return { ...loaded, config: { ...loaded.config, training: undefined } };
}

function mentions(file: string, word: string): boolean {
  try {
    // A pipe can be read only once, so it counts as mentioning the word.
    return !statSync(file).isFile() || readFileSync(file, 'utf8').includes(word);
  } catch {
    return false;
  }
}

/** Refuses `--max-cost` if it cannot be enforced: a caller who sets it relies on it. */
export function checkCostLimit(run: ResolvedRun): void {
  const unpriced = unpricedOf(run);
  if (unpriced.length === 0) return;
  const remedies = [
    ...new Set(unpriced.map((card) => `add ${priceSettingOf(card)}, to it in the configuration`)),
    ...unpriced.flatMap((card) => ('id' in card ? `leave it out with --deny ${card.id}` : [])),
  ].join(', or ');
  const names = haveNoPrice(unpriced.map(nameOfCard));
  throw new UsageError(`--max-cost cannot be enforced: ${names}; ${remedies}`);
}
