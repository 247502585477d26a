import type { ResolvedRun } from '../protocol/run';

/** A member of a pool whose calls cost nobody knows what. */
export interface Unpriced {
  /** As messages call it: `the Conductor (openai my-model)`, `worker beta (openai my-model)`. */
  readonly name: string;
  /** null for the Conductor, which no run can do without. */
  readonly worker: string | null;
  /** False for an activity or workflow of the user's, which no price can be given. */
  readonly canBePriced: boolean;
}

/** Whom no limit on cost can be held against. */
export function unpricedOf({ conductor, workers }: Pick<ResolvedRun, 'conductor' | 'workers'>): Unpriced[] {
  const { provider, model, price } = conductor;
  const own =
    price === null ? [{ name: `the Conductor (${provider} ${model})`, worker: null, canBePriced: true }] : [];
  const others = workers.flatMap((card): Unpriced[] => {
    const { id: worker, kind } = card;
    if (kind !== 'model')
      return [{ name: `worker ${worker} (${kind} ${card.type})`, worker, canBePriced: false }];
    if (card.price !== null) return [];
    return [{ name: `worker ${worker} (${card.provider} ${card.model})`, worker, canBePriced: true }];
  });
  return [...own, ...others];
}
