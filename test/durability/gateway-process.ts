import { join } from 'node:path';
import { runChild, type ChildProgram } from '../../research/support/programs';
import { atTheEnd } from '../support/at-the-end';
import type { Stage } from '../support/stage';
import type { GatewaySetting } from './programs/gateway';

interface GatewayProcess extends Pick<ChildProgram, 'kill' | 'stop' | 'ended'> {
  readonly url: string;
}

/** Time that a test has to answer the requests of a gateway that it stops. */
const DRAIN_MS = 120_000;

const started: ChildProgram[] = [];

// Processes that a failed test left running.
atTheEnd(() => Promise.all(started.map((child) => child.kill())));

/**
 * Starts a gateway of a stage in a process of its own, so that it can be killed or stopped. A store with a password is
 * given by its URL: that of the stage leaves passwords out.
 */
export async function startGatewayProcess(
  stage: Stage,
  {
    port = 0,
    drainMs = DRAIN_MS,
    store = stage.store.url,
  }: Partial<Pick<GatewaySetting, 'port' | 'drainMs' | 'store'>> = {},
): Promise<GatewayProcess> {
  const setting: GatewaySetting = {
    address: stage.temporal.address,
    taskQueue: stage.taskQueue,
    config: stage.config,
    store,
    port,
    drainMs,
  };
  const child = runChild(join(__dirname, 'programs', 'gateway.ts'), [JSON.stringify(setting)], process.env);
  started.push(child);
  return { ...child, url: String(await child.nextMessage()) };
}
