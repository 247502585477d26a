import { join } from 'node:path';
import { runChild, type ChildProgram } from '../../examples/learn/support/programs';
import type { Stage } from '../support/stage';
import type { GatewaySetting } from './programs/gateway';

interface GatewayProcess extends Pick<ChildProgram, 'kill'> {
  readonly url: string;
}

const started: ChildProgram[] = [];

// Processes that a failed test left running.
afterAll(() => Promise.all(started.map((child) => child.kill())));

/** Starts a gateway of a stage in a process of its own, so that it can be killed. */
export async function startGatewayProcess(stage: Stage, port = 0): Promise<GatewayProcess> {
  const setting: GatewaySetting = {
    address: stage.temporal.address,
    taskQueue: stage.taskQueue,
    config: stage.config,
    store: stage.store.url,
    port,
  };
  const child = runChild(join(__dirname, 'programs', 'gateway.ts'), [JSON.stringify(setting)], process.env);
  started.push(child);
  return { url: String(await child.nextMessage()), kill: () => child.kill() };
}
