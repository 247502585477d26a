import type { Config } from '../pool/config-schema';
import { resolveRun } from '../pool/resolve-run';
import { unpricedOf } from '../pool/unpriced';
import type { PoolFilter } from '../protocol/activities';
import { UsageError } from './usage-error';

/**
 * Refuses a limit on cost that nobody could hold: whoever asks for one by name relies on it.
 *
 * @throws UsageError that names whose price is unknown, and what to do
 */
export function checkCostLimit(config: Config, pool: PoolFilter): void {
  const unpriced = unpricedOf(resolveRun(config, { pool }));
  if (unpriced.length === 0) return;
  const remedies = [
    unpriced.some(({ canBePriced }) => canBePriced)
      ? 'add "price: { input, output }", in USD per million tokens, to it in conductor.yaml'
      : null,
    ...unpriced.flatMap(({ worker }) => (worker === null ? [] : `leave it out with --deny ${worker}`)),
  ];
  throw new UsageError(
    `--max-cost cannot be enforced, since no price is known of ${unpriced.map(({ name }) => name).join(', ')}: ` +
      remedies.filter((remedy) => remedy !== null).join(', or '),
  );
}
