import { configuredServer } from './configured-server';
import { embeddedServer } from './embedded-server';
import type { AttachOptions, TemporalServer } from './temporal-server';

/**
 * The Temporal server a command works with: the one Temporal's environment configuration names, where it answers,
 * else the folder's embedded one, started if it does not run. Call `stop` before the process ends.
 */
export async function attachOrStart(options: AttachOptions): Promise<TemporalServer> {
  return (await configuredServer(options)) ?? embeddedServer(options);
}
