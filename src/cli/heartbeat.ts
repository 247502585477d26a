import type { TemporalServer } from '../local/temporal-server';
import type { Config } from '../pool/config-schema';
import { durationMs } from '../pool/duration';

/** With this beside the embedded server, a run goes on some 8 s after its worker was killed. */
const EMBEDDED = '5s';

/** How soon a lost worker is noticed on this server: as configured, and beside the embedded one within seconds. */
export function heartbeatOn({ embedded }: Pick<TemporalServer, 'embedded'>, { temporal }: Config): string {
  const { heartbeat } = temporal;
  return embedded && durationMs(heartbeat) > durationMs(EMBEDDED) ? EMBEDDED : heartbeat;
}
