import { Client, Connection, type ConnectionLike } from '@temporalio/client';
import { ConductorClient } from '../client/conductor-client';
import { configuredKeys } from '../encryption/configured-keys';
import { encryptionConverter } from '../encryption/encryption-converter';
import type { TemporalServer } from '../local/temporal-server';
import type { Config } from '../pool/config-schema';
import { openStore } from '../store/open-store';
import { Cleanup } from './cleanup';

/** What a command works with while it runs. */
export interface Session {
  readonly server: TemporalServer;
  readonly temporal: Client;
  readonly conductor: ConductorClient;
  /** Gives everything back, the server included. */
  close(): Promise<void>;
}

/** Connects to a server for a command that asks or looks on. It takes the server over, and leaves it should this fail. */
export function openSession(server: TemporalServer, config: Config): Promise<Session> {
  return openWith(server, async (cleanup) => {
    const connection = await Connection.connect(server.connection);
    cleanup.add(() => connection.close());
    return clientsOn(connection, server, config);
  });
}

/** Opens the parts of a session; whatever was opened is closed in reverse, at the end or when a part fails. */
export async function openWith<Parts>(
  server: TemporalServer,
  openParts: (cleanup: Cleanup) => Promise<Parts>,
): Promise<Parts & Pick<Session, 'server' | 'close'>> {
  const cleanup = new Cleanup();
  cleanup.add(() => server.stop());
  try {
    return { ...(await openParts(cleanup)), server, close: () => cleanup.run() };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** The clients of a session. */
export function clientsOn(
  connection: ConnectionLike,
  { namespace }: TemporalServer,
  config: Config,
): Pick<Session, 'temporal' | 'conductor'> {
  const keys = configuredKeys(config);
  const { taskQueue } = config.temporal;
  const temporal = new Client({
    connection,
    namespace,
    ...(keys && { dataConverter: encryptionConverter(keys) }),
  });
  const store = openStore(config.store, process.cwd(), { keys });
  return { temporal, conductor: new ConductorClient({ client: temporal, store, taskQueue }) };
}
