import type { ConductorCard, ResolvedRun, RunWorker } from '../protocol/cards';
import { resolveRun } from './resolve-run';
import type { ConductorConfig, Config } from './schema';

/** Sentences on what a configuration asks for and cannot have. */
export function noticesOf(config: Config): string[] {
  const { costUsd } = config.limits;
  const names = unpricedOf(resolveRun(config)).map(({ name }) => name);
  if (costUsd === null || names.length === 0) return [];
  return [
    `limits.costUsd ($${costUsd}) cannot be enforced: ${haveNoPrice(names)}. ` +
      'Give each a "price:"; calls and tokens still bind.',
  ];
}

/** A worker, or the Conductor (null), whose calls have an unknown cost, and the setting of the price that it lacks. */
export interface Unpriced {
  readonly name: string;
  readonly worker: string | null;
  readonly setting: string;
}

export function unpricedOf({ conductor, workers }: Pick<ResolvedRun, 'conductor' | 'workers'>): Unpriced[] {
  const unpriced = [conductor, ...workers].filter((card) => !('price' in card) || card.price === null);
  return unpriced.map((card) => ({
    name: nameOf(card),
    worker: 'id' in card ? card.id : null,
    setting: 'provider' in card ? PRICE_OF_TOKENS : '"price: { perCall }", in USD',
  }));
}

const PRICE_OF_TOKENS = '"price: { input, output }", in USD per million tokens';

/** `worker a (openai m) has no known price`. */
export function haveNoPrice(names: readonly string[]): string {
  return `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} no known price`;
}

/** Name in messages: `the Conductor (openai my-model)`, `worker beta (workflow research)`. */
export function nameOf(card: ConductorCard | RunWorker): string {
  const what = 'provider' in card ? `${card.provider} ${card.model}` : `${card.kind} ${card.type}`;
  return 'id' in card ? `worker ${card.id} (${what})` : `the Conductor (${what})`;
}

/** Names the writer of plans for commands: `openai gpt-6-sol`, `policy nightly/000040`. */
export function describeConductor(conductor: ConductorConfig): string {
  return conductor.provider === 'policy'
    ? `policy ${conductor.checkpoint ?? '(the checkpoint that serves)'}`
    : `${conductor.provider} ${conductor.model}`;
}
