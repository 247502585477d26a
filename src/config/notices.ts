import type { ResolvedRun } from '../protocol/run';
import { resolveRun } from './resolve-run';
import type { ConductorConfig, Config } from './schema';

/** What a configuration asks for and cannot have: one sentence each. */
export function noticesOf(config: Config): string[] {
  const { costUsd } = config.limits;
  const names = unpricedOf(resolveRun(config)).map(({ name }) => name);
  if (costUsd === null || names.length === 0) return [];
  return [
    `limits.costUsd ($${costUsd}) cannot be enforced, since no price is known of ${names.join(', ')}: ` +
      'give each model a "price:"; calls and tokens still bind.',
  ];
}

/** A member of a pool whose calls have an unknown cost, so that no limit on cost can be enforced for it. */
export interface Unpriced {
  /** As messages call it: `the Conductor (openai my-model)`, `worker beta (openai my-model)`. */
  readonly name: string;
  /** null for the Conductor, which no run can do without. */
  readonly worker: string | null;
  /** False for an activity or workflow of the user's, which cannot be given a price. */
  readonly canBePriced: boolean;
}

export function unpricedOf({ conductor, workers }: Pick<ResolvedRun, 'conductor' | 'workers'>): Unpriced[] {
  const name = `the Conductor (${conductor.provider} ${conductor.model})`;
  const own = conductor.price === null ? [{ name, worker: null, canBePriced: true }] : [];
  const others = workers.flatMap((card): Unpriced[] => {
    if (card.kind === 'model' && card.price !== null) return [];
    const what = card.kind === 'model' ? `${card.provider} ${card.model}` : `${card.kind} ${card.type}`;
    return [{ name: `worker ${card.id} (${what})`, worker: card.id, canBePriced: card.kind === 'model' }];
  });
  return [...own, ...others];
}

/** Who writes plans, as commands show it: `openai gpt-6-sol`, `policy nightly/000040`. */
export function describeConductor(conductor: ConductorConfig): string {
  return conductor.provider === 'policy'
    ? `policy ${conductor.checkpoint ?? '(the checkpoint that serves)'}`
    : `${conductor.provider} ${conductor.model}`;
}
