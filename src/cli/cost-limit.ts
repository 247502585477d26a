import { unpricedOf } from '../config/notices';
import { resolveRun } from '../config/resolve-run';
import type { TrainableConfig } from '../training/config/schema';
import type { PoolFilter } from '../protocol/activities';
import { UsageError } from './exit-code';

/**
 * Refuses a limit on cost that cannot be enforced: a caller who asks for one by name relies on it.
 *
 * @throws UsageError that names whose price is unknown, and what to do
 */
export function checkCostLimit(config: TrainableConfig, pool: PoolFilter): void {
  const unpriced = unpricedOf(resolveRun(config, { pool }));
  if (unpriced.length === 0) return;
  const remedies = unpriced.flatMap(({ worker }) =>
    worker === null ? [] : `leave it out with --deny ${worker}`,
  );
  if (unpriced.some(({ canBePriced }) => canBePriced)) {
    remedies.unshift('add "price: { input, output }", in USD per million tokens, to it in conductor.yaml');
  }
  throw new UsageError(
    `--max-cost cannot be enforced, since no price is known of ${unpriced.map(({ name }) => name).join(', ')}: ` +
      remedies.join(', or '),
  );
}
