import { Runtime } from '@temporalio/worker';

/**
 * Keeps stdout for a program's messages: Temporal's native part would write its warnings there, of which a busy machine
 * gets some. Must precede all other use of that part.
 */
export function keepStdout(): void {
  const logging = { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } as const;
  Runtime.install({ telemetryOptions: { logging } });
}
