import type { ModelCard } from '../protocol/cards';
import { resolveWorker } from './cards';
import { ConfigError } from './errors';
import type { Config } from './schema';

/** In the ledger, its calls carry this id. */
const VERIFIER_ID = 'verifier';

/**
 * The card of the model that judges answers; null where none is configured.
 *
 * @param day when its price must hold
 * @throws ConfigError where it is a worker, too: a model takes its own words for right
 */
export function resolveVerifier({ verifier, workers }: Config, day = new Date()): ModelCard | null {
  if (verifier === undefined) return null;
  const card = resolveWorker({ ...verifier, id: VERIFIER_ID, fallback: [], layout: 'plain' }, day);
  if (card.kind !== 'model') return null;
  for (const worker of workers.map((each) => resolveWorker(each, day))) {
    if (worker.id === VERIFIER_ID) {
      throw new ConfigError(
        `a worker has the id ${VERIFIER_ID}, and there is a "verifier:": give it another id`,
      );
    }
    const isSame =
      worker.kind === 'model' && worker.provider === card.provider && worker.model === card.model;
    if (isSame && worker.baseUrl === card.baseUrl) {
      throw new ConfigError(
        `verifier is ${card.provider} ${card.model}, which is worker ${worker.id}: name a model from outside the pool, ` +
          'since a model takes its own words for right',
      );
    }
  }
  return card;
}
