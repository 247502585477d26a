import { resolve } from 'node:path';
import { configuredServer } from '../local/configured-server';
import { embeddedServer } from '../local/embedded-server';
import { liveUsers } from '../local/folder-users';
import { readServerRecord } from '../local/server-record';
import type { AttachOptions, TemporalServer } from '../local/temporal-server';
import type { Config } from '../pool/config-schema';
import { say } from './terminal';
import { UsageError } from './usage-error';

/** Keeps what the embedded server leaves behind: database, logs, records. */
export const FOLDER = '.conductor';

/** What a server must be able to do for a command. */
export interface ServerDemands {
  /** The command runs until it is told to stop, so that others may rely on its server. */
  readonly stays?: boolean;
  /** What needs the server to be still there when the command has ended, e.g. `--detach`. */
  readonly outliving?: string;
  /** The server must have been used before: the command is about a run that it knows. */
  readonly used?: boolean;
}

/**
 * The server of Temporal's environment configuration, else the folder's own.
 *
 * @throws UsageError, with nothing started, where the command would take the only server away with it
 */
export async function attachServer(config: Config, demands: ServerDemands = {}): Promise<TemporalServer> {
  const options: AttachOptions = { folder: FOLDER, namespace: config.temporal.namespace, say };
  const configured = await configuredServer(options);
  if (configured !== null) return configured;
  if (demands.used === true && (await readServerRecord(resolve(FOLDER))) === null) {
    throw new UsageError(
      'no run was ever started in this folder: go to the folder where it was, or set TEMPORAL_ADDRESS',
    );
  }
  if (demands.outliving !== undefined && !(await someoneStays())) {
    throw new UsageError(
      `${demands.outliving} needs a Temporal server that goes on after this command: ` +
        'start "temporal-conductor up" in this folder, or set TEMPORAL_ADDRESS to a server that runs',
    );
  }
  return embeddedServer({ ...options, stays: demands.stays ?? false });
}

/**
 * The server of Temporal's environment configuration and no other.
 *
 * @throws UsageError where none is named or none answers
 */
export async function attachConfiguredServer(config: Config): Promise<TemporalServer> {
  const options = { folder: FOLDER, namespace: config.temporal.namespace, say };
  const server = await configuredServer(options);
  if (server !== null) return server;
  throw new UsageError(
    'there is no Temporal server to work for: set TEMPORAL_ADDRESS to one that runs, ' +
      'or use "temporal-conductor up" for one of this folder\'s own',
  );
}

async function someoneStays(): Promise<boolean> {
  const users = await liveUsers(resolve(FOLDER));
  return users.some((user) => user.stays);
}
