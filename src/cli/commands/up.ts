import { attachServer } from '../attach';
import type { ExitCode } from '../exit-code';
import { fitToServer } from '../fit-to-server';
import { listenForInterruption } from '../interruption';
import { loadServable } from '../load-settings';
import { servePool } from '../serve-pool';

/** Everything on one machine: the embedded server, which other commands of this folder then share, and a worker. */
export async function up(options: { readonly config?: string }): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadServable(options.config);
  const server = await attachServer(loaded, { stays: true });
  return servePool(server, fitToServer(server, loaded, options.config), interruption);
}
