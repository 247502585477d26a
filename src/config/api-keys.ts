import type { ConductorCard, ModelCard, ResolvedRun, RunWorker } from '../protocol/cards';
import { ConfigError, MissingKeyError } from './errors';
import { conductorsOf, nameOf, resolveBaselines, resolveConductor, resolveVerifier } from './cards';
import { resolveRun } from './resolve-run';
import type { Config } from './schema';

type Card = ModelCard | ConductorCard;

/**
 * The value of a card's key from the environment of this process; null where the server wants none. A card travels
 * through Temporal, where others may write, so it is served only if this process's own configuration asks the same
 * place with the same variable: no one else can have a key sent to a host of theirs, a request made to their address,
 * or a file of this machine opened as a local model.
 * @throws ConfigError where the variable is not set (MissingKeyError), or this configuration knows no such place
 */
export function keyFor(card: Card, config: Config, env: NodeJS.ProcessEnv): string | null {
  if (!isConfigured(card, config)) {
    throw new ConfigError(
      `${nameOf(card)} is to be asked at ${placeOf(card)}, which the configuration of this worker process does not ` +
        'do: give all worker processes the same configuration, and start the run again',
    );
  }
  const { apiKeyEnv } = card;
  if (apiKeyEnv === null) return null;
  const key = env[apiKeyEnv] ?? '';
  if (key !== '') return key;
  throw new MissingKeyError(
    `${nameOf(card)} needs the environment variable ${apiKeyEnv}, which is not set in the worker process: ` +
      'set it and start the worker again',
  );
}

/** Whether a call could be made, as `keyFor` says; an activity or workflow of the user's needs no key. */
export function checkKey(card: ConductorCard | RunWorker, config: Config): void {
  if ('provider' in card) keyFor(card, config, process.env);
}

function isConfigured(card: Card, config: Config): boolean {
  // A checkpoint without an address of its own is asked where its manifest says, in the store of this process.
  if (card.provider === 'policy' && card.baseUrl === null && card.apiKeyEnv === null) return true;
  return configuredCards(config).some(
    (own) =>
      own.apiKeyEnv === card.apiKeyEnv &&
      own.provider === card.provider &&
      own.baseUrl === card.baseUrl &&
      (card.provider !== 'local' || own.model === card.model),
  );
}

export function modelCardsOf({ conductor, workers }: ResolvedRun): Card[] {
  return [conductor, ...workers.filter((worker) => worker.kind === 'model')];
}

/** Resolved once for a configuration, since every call of a model asks. */
const CARDS = new WeakMap<Config, readonly Card[]>();

/** Cards of this configuration, whoever asks for them. */
export function configuredCards(config: Config): readonly Card[] {
  const cards = CARDS.get(config) ?? [
    ...conductorsOf(config).map(([, conductor]) => resolveConductor(conductor, new Date())),
    ...[...resolveRun(config).workers, ...resolveBaselines(config)].filter(
      (worker) => worker.kind === 'model',
    ),
    ...verifierOf(config),
  ];
  CARDS.set(config, cards);
  return cards;
}

function verifierOf(config: Config): Card[] {
  const verifier = resolveVerifier(config);
  return verifier === null ? [] : [verifier];
}

function placeOf({ baseUrl, provider, apiKeyEnv, model }: Card): string {
  if (provider === 'local') return `the file or address ${JSON.stringify(model)}`;
  const place = baseUrl ?? `${provider}'s own endpoint`;
  return apiKeyEnv === null ? place : `${place} with the key in ${apiKeyEnv}`;
}
