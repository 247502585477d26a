/** A gateway in a process of its own, made to be killed or stopped. */
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { ConductorClient, type ConfigInput } from '../../../src';
import { readGivenConfig } from '../../../src/config/load';
import { startGateway } from '../../../src/gateway/server';
import { openStore } from '../../../src/store/open-store';
import { keepStdout } from './keep-stdout';

/** Settings of the program, as JSON. */
export interface GatewaySetting {
  readonly address: string;
  readonly taskQueue: string;
  readonly config: ConfigInput;
  readonly store: string;
  /** @default any free port */
  readonly port?: number;
  /** Time that requests under way have after SIGTERM. */
  readonly drainMs: number;
}

async function main(): Promise<void> {
  keepStdout();
  const [json = ''] = process.argv.slice(2);
  const setting = JSON.parse(json) as GatewaySetting;
  const { address, taskQueue } = setting;
  const config = readGivenConfig(setting.config);
  const store = openStore(setting.store, process.cwd());
  const temporal = new Client({ connection: await NativeConnection.connect({ address }) });
  const { url, close } = await startGateway(
    {
      conductor: new ConductorClient({ client: temporal, store, taskQueue }),
      temporal,
      config: { ...config, temporal: { ...config.temporal, taskQueue } },
      store,
      say: console.error,
    },
    { port: setting.port ?? 0, host: '127.0.0.1', allowHosts: [] },
  );
  process.once('SIGTERM', () => void close(setting.drainMs).then(() => process.exit(0)));
  console.log(JSON.stringify(url));
}

void main();
