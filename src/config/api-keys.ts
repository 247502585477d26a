import type { CalledCard, ConductorCard, ResolvedRun, RunWorker } from '../protocol/cards';
import { ConfigError, MissingKeyError } from './errors';
import { conductorsOf, nameOfCard, resolveBaselines, resolveConductor, resolveVerifier } from './cards';
import { resolveRun } from './resolve-run';
import type { Config } from './schema';

/**
 * Returns a card's key from the environment of this process, or null if the server needs none. A card travels through
 * Temporal, where others may write, so it is accepted only if this process's own configuration names the same place and
 * the same variable. Otherwise anyone could have a key or a request sent to their own address, or a file of this
 * machine opened as a local model.
 * @throws ConfigError if the variable is not set (MissingKeyError), or this configuration names no such place
 */
export function keyFor(card: CalledCard, config: Config, env: NodeJS.ProcessEnv): string | null {
  if (!isConfigured(card, config)) {
    throw new ConfigError(
      `${nameOfCard(card)} is to be called at ${describeAddress(card)}, which is not in this worker process's configuration: ` +
        'give all worker processes the same configuration, then start the run again',
    );
  }
  const { apiKeyEnv } = card;
  if (apiKeyEnv === null) return null;
  const key = env[apiKeyEnv] ?? '';
  if (key !== '') return key;
  throw new MissingKeyError(
    `${apiKeyEnv} is not set, and ${nameOfCard(card)} needs it: set it where this command or worker is started, and ` +
      'start again; "temporal-conductor doctor" checks all keys',
  );
}

/** Throws as `keyFor` if a card cannot be called; the user's own activities and workflows need no key. */
export function checkApiKey(card: ConductorCard | RunWorker, config: Config): void {
  if ('provider' in card) keyFor(card, config, process.env);
}

function isConfigured(card: CalledCard, config: Config): boolean {
  // A checkpoint without its own address is called where its manifest, in the store of this process, says.
  if (card.provider === 'policy' && card.baseUrl === null && card.apiKeyEnv === null) return true;
  return configuredCards(config).some(
    (own) =>
      own.apiKeyEnv === card.apiKeyEnv &&
      own.provider === card.provider &&
      own.baseUrl === card.baseUrl &&
      own.proxy === card.proxy &&
      (card.provider !== 'local' || own.model === card.model),
  );
}

export function modelCardsOf({ conductor, workers }: ResolvedRun): CalledCard[] {
  return [conductor, ...workers.filter((worker) => worker.kind === 'model')];
}

const cards = new WeakMap<Config, readonly CalledCard[]>();

/**
 * Returns all model cards of this configuration: Conductors, workers, baselines and the verifier. Every call of a model
 * asks for them; what a model costs on a day is not among what they say.
 */
export function configuredCards(config: Config): readonly CalledCard[] {
  const known = cards.get(config) ?? resolveCards(config);
  cards.set(config, known);
  return known;
}

function resolveCards(config: Config): CalledCard[] {
  const workers = [...resolveRun(config).workers, ...resolveBaselines(config)];
  return [
    ...conductorsOf(config).map(([, conductor]) => resolveConductor(conductor, new Date())),
    ...workers.filter((worker) => worker.kind === 'model'),
    ...[resolveVerifier(config)].filter((card) => card !== null),
  ];
}

function describeAddress({ baseUrl, proxy, provider, apiKeyEnv, model }: CalledCard): string {
  if (provider === 'local') return `the file or address ${JSON.stringify(model)}`;
  const place = `${baseUrl ?? `${provider}'s own endpoint`}${proxy === undefined ? '' : ` through ${proxy}`}`;
  return apiKeyEnv === null ? place : `${place} with the key in ${apiKeyEnv}`;
}
