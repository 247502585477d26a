import type { ResolvedRun } from '../protocol/run';
import { resolveRun } from './resolve-run';
import type { ConductorConfig, Config } from './schema';

/** What a configuration asks for and cannot have, or not yet: one sentence each. */
export function noticesOf(config: Config): string[] {
  // Calls, tokens and time bind all the same, so a run need not be refused for it.
  const { costUsd } = config.limits;
  const names = unpricedOf(resolveRun(config)).map(({ name }) => name);
  if (costUsd === null || names.length === 0) return [];
  return [
    `limits.costUsd ($${costUsd}) cannot be enforced, since no price is known of ${names.join(', ')}: ` +
      'give each model a "price:"; calls and tokens still bind.',
  ];
}

/** A member of a pool whose calls have an unknown cost. */
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

/** Who writes plans, as commands say it: `openai gpt-6-sol`, `policy nightly/000040`. */
export function describeConductor(conductor: ConductorConfig): string {
  return conductor.provider === 'policy'
    ? `policy ${conductor.checkpoint ?? '(the checkpoint that serves)'}`
    : `${conductor.provider} ${conductor.model}`;
}
