import { Connection, isGrpcServiceError } from '@temporalio/client';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { reasonOf } from './reason-of';
import type { AttachOptions, TemporalServer } from './temporal-server';

const ANSWER_MS = 5_000;

/**
 * The server that Temporal's own environment configuration names (`TEMPORAL_ADDRESS`, or a profile of its file), if
 * it answers. null when none is named, and, after saying so, when nothing answers there. A server that answers but
 * turns us away is an error, since the user meant it.
 */
export async function configuredServer({
  namespace = 'default',
  say,
  env = process.env,
}: AttachOptions): Promise<TemporalServer | null> {
  const config = loadClientConnectConfig({ overrideEnvVars: definedOnly(env) });
  const { address } = config.connectionOptions;
  if (address === undefined) return null;
  const source = env.TEMPORAL_ADDRESS ? 'TEMPORAL_ADDRESS' : "the profile of Temporal's configuration file";

  const silence = await silenceOf(config.connectionOptions, `${address} (${source})`);
  if (silence !== null) {
    say(`Nothing answers at ${address} (${source}): ${silence}.`);
    return null;
  }
  return {
    address,
    namespace: config.namespace ?? namespace,
    connection: config.connectionOptions,
    uiAddress: null,
    embedded: false,
    started: false,
    outlives: true,
    source,
    stop: () => Promise.resolve(),
  };
}

/** Why no server can be heard there, or null when one can. */
async function silenceOf(
  options: ClientConnectConfig['connectionOptions'],
  where: string,
): Promise<string | null> {
  try {
    const connection = await Connection.connect({ ...options, connectTimeout: ANSWER_MS });
    await connection.close();
    return null;
  } catch (error) {
    if (!isGrpcServiceError(error)) return reasonOf(error);
    throw new Error(
      `The Temporal server at ${where} turned us away: ${error.details}. ` +
        'Check TEMPORAL_API_KEY, TEMPORAL_TLS and the namespace, or unset the address to use the embedded server.',
      { cause: error },
    );
  }
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
