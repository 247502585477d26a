import { readFileSync, statSync } from 'node:fs';
import { hasEngine, howToGetEngine } from '../activities/models/local-engine';
import { VENDORS } from '../config/cards';
import { configuredCards, keyFor, modelCardsOf } from '../config/api-keys';
import { configPath, loadConfig, type LoadedConfig } from '../config/load';
import { haveNoPrice, unpricedOf } from '../config/notices';
import { resolveRun } from '../config/resolve-run';
import { configuredKeys } from '../encryption/key-ring';
import type { PoolFilter } from '../protocol/activity-contract';
import type { ResolvedRun } from '../protocol/run';
import type { TrainableConfig } from '../training/config/schema';
import { UsageError } from './exit-code';
import { notSaidToday } from '../local/memory';
import { say } from './terminal';
import { foreignKeys, foreignStore, requireTrust, untrusted } from './trust';

/** Keeps what commands leave behind in a folder: the embedded server's database, logs and records, and the store. */
export const FOLDER = '.conductor';

/** Settings of solves with the sections of add-ons, which only this file knows. */
export type Settings = TrainableConfig;

/** The options of every command that loads a configuration. */
export interface WorkOptions {
  readonly config?: string;
  readonly trust?: boolean;
}

/** Loads the configuration for a command that makes no calls of its own, but may open the store. */
export async function loadSettings(options: WorkOptions): Promise<Settings> {
  const { config } = await loadChecked(options.config);
  await requireTrust(foreignPlaces(config), fileOf(options), options.trust);
  return config;
}

/** Loads the settings of a command that makes calls. @throws ConfigError where this process cannot make all of them */
export async function loadServable(options: WorkOptions, pool: PoolFilter = {}): Promise<Settings> {
  const { config, path, notices, unpriced } = await loadChecked(options.config);
  const cards = modelCardsOf(resolveRun(config, { pool }));
  if (cards.some(({ provider }) => provider === 'local')) requireEngine(path === null);
  for (const card of cards) keyFor(card, config, process.env);
  await checkTrust(config, options);
  const remembered = await notSaidToday(unpriced);
  for (const notice of [...notices, ...remembered]) say(notice);
  if (cards.some(({ provider, model }) => provider === 'local' && model === 'smollm2')) {
    // 93 MB, once: before anything waits for it.
    const { fetchSmolLm2 } = await import('../local/complete.js');
    await fetchSmolLm2({ say });
  }
  return config;
}

/** @throws UsageError where no model can run inside this process */
function requireEngine(isDefault: boolean): void {
  if (hasEngine()) return;
  const why = isDefault
    ? 'there is no conductor.yaml, no vendor key and no model server, and for the very small model that runs inside this process'
    : 'for provider "local"';
  throw new UsageError(
    `${why} an engine is missing: ${howToGetEngine()}${isDefault ? `; or set one of ${KEYS}` : ''}`,
  );
}

const KEYS = Object.values(VENDORS)
  .map(({ apiKeyEnv }) => apiKeyEnv)
  .join(', ');

/** Refuses a configuration that sends credentials where nothing says they belong, unless its folder is trusted. */
export async function checkTrust(config: Settings, options: WorkOptions): Promise<void> {
  await requireTrust(foreignPairs(config), fileOf(options), options.trust);
}

/** Pairs of key and place that such a configuration is not yet trusted with. */
export function untrustedOf(config: Settings, options: WorkOptions): Promise<string[]> {
  return untrusted(foreignPairs(config), fileOf(options));
}

function foreignPairs(config: Settings): string[] {
  return [...foreignKeys(configuredCards(config), process.env), ...foreignPlaces(config)];
}

/** The credentials of this user that open the store and the artifacts. */
export function foreignPlaces({ store, training }: Settings): string[] {
  return [...new Set([store, training?.artifacts ?? ''].flatMap(foreignStore))];
}

function fileOf({ config: path }: WorkOptions): string {
  return configPath({ env: process.env, cwd: process.cwd(), path });
}

/** Nothing must be written unencrypted because the keys are missing. */
async function loadChecked(path: string | undefined): Promise<LoadedConfig<Settings>> {
  const loaded = await loadFile(path);
  configuredKeys(loaded.config);
  return loaded;
}

/** Loads the configuration with its section `training`, whose schema is loaded only for a file that mentions it. */
export async function loadFile(path: string | undefined): Promise<LoadedConfig<Settings>> {
  const options = { env: process.env, cwd: process.cwd(), path };
  if (!mentions(configPath(options), 'training')) {
    const loaded = await loadConfig(options);
    return { ...loaded, config: { ...loaded.config, training: undefined } };
  }
  const { loadTrainableConfig } = await import('../training/config/load.js');
  return loadTrainableConfig(options);
}

function mentions(file: string, word: string): boolean {
  try {
    // A pipe can be read only once.
    return !statSync(file).isFile() || readFileSync(file, 'utf8').includes(word);
  } catch {
    return false;
  }
}

/** Refuses `--max-cost` where it cannot be enforced: a caller who asks for it by name relies on it. */
export function checkCostLimit(run: ResolvedRun): void {
  const unpriced = unpricedOf(run);
  if (unpriced.length === 0) return;
  const remedies = [
    ...new Set(unpriced.map(({ setting }) => `add ${setting}, to it in conductor.yaml`)),
    ...unpriced.flatMap(({ worker }) => (worker === null ? [] : `leave it out with --deny ${worker}`)),
  ];
  throw new UsageError(
    `--max-cost cannot be enforced: ${haveNoPrice(unpriced.map(({ name }) => name))}; ${remedies.join(', or ')}`,
  );
}
