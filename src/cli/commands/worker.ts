import { attachConfiguredServer } from '../attach';
import type { ExitCode } from '../exit-code';
import { listenForInterruption } from '../interruption';
import { loadServable } from '../load-settings';
import { servePool } from '../serve-pool';

/** The process that a production deployment runs: a worker for a Temporal server somewhere else. */
export async function worker(options: { readonly config?: string }): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const config = await loadServable(options.config);
  return servePool(await attachConfiguredServer(config), config, interruption);
}
