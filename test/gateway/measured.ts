import { join } from 'node:path';
import { runChild } from '../../research/support/programs';
import type { GatewaySetting } from '../durability/programs/gateway';
import type { Stage } from '../support/stage';
import type { Measured } from './programs/measured-gateway';

interface MeasuredGateway {
  readonly url: string;
  readonly measure: () => Promise<Measured>;
  readonly kill: () => Promise<void>;
}

/** Starts a gateway in a process of its own, which measures how long it stands still and what memory it takes. */
export async function startMeasuredGateway({
  temporal,
  taskQueue,
  config,
  store,
}: Stage): Promise<MeasuredGateway> {
  const setting: GatewaySetting = {
    address: temporal.address,
    taskQueue,
    config,
    store: store.url,
    drainMs: 0,
  };
  const program = join(__dirname, 'programs/measured-gateway.ts');
  const gateway = runChild(program, [JSON.stringify(setting)], process.env);
  const url = String(await gateway.nextMessage());
  return {
    url,
    measure: async (): Promise<Measured> => {
      gateway.tell('now');
      return (await gateway.nextMessage()) as Measured;
    },
    kill: () => gateway.kill(),
  };
}
