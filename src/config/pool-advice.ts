import type { ConfigInput } from './schema';

/** In the paper, prompted Conductors did well with three workers and badly with seven; the bound between is ours. */
const FEW_WORKERS = 4;

/** Returns advice on a pool that is large for a Conductor which is prompted and not trained; null if there is none. */
export function adviceOnPool({
  conductor,
  workers,
}: Pick<ConfigInput, 'conductor' | 'workers'>): string | null {
  const isPrompted = conductor.provider !== 'policy' && conductor.plan === undefined;
  if (!isPrompted || workers.length <= FEW_WORKERS) return null;
  return (
    `${workers.length} workers are many for a Conductor that was not trained, which plans best with three or four good ` +
    'ones: keep the best, and measure with "temporal-conductor eval" whether more of them help (docs/configuration.md, ' +
    '"How many workers")'
  );
}
