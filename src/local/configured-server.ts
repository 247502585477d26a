import { Connection, isGrpcServiceError } from '@temporalio/client';
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import { isOurImage } from '../runtime/start-program';
import { reasonOf } from '../errors';
import { tryTunnel } from '../network/fetch';
import { describeProxy, remedyForProxy, TunnelError } from '../network/proxy';
import { proxyOfTemporal, viaProxy, withPort } from './temporal-route';

/** Reports one plain sentence to the person who waits, e.g. prints it on stderr. */
export type Say = (line: string) => void;

/** Temporal server that a command uses until it calls `stop`. */
export interface TemporalServer {
  readonly address: string;
  readonly namespace: string;
  /** Address, TLS and API key; `viaProxy` and `nativelyViaProxy` make them options of a connection. */
  readonly connection: ClientConnectConfig['connectionOptions'];
  readonly uiAddress: string | null;
  /** Whether it is the folder's own server, not one from Temporal's environment configuration. */
  readonly embedded: boolean;
  /** Whether its runs are this user's, and not from a folder that someone else made. */
  readonly isOwn: boolean;
  readonly source: string;
  /** Leaves the server; safe to call twice. The last to leave an embedded server stops it. */
  stop(): Promise<void>;
}

/**
 * Returns the server that `TEMPORAL_ADDRESS` or a Temporal profile names, if any. @throws Error if it does not answer
 */
export async function configuredServer(namespace: string, env = process.env): Promise<TemporalServer | null> {
  const config = readEnvironment(env);
  const { address } = config.connectionOptions;
  if (address === undefined) return null;
  const source = env.TEMPORAL_ADDRESS ? 'TEMPORAL_ADDRESS' : "the profile of Temporal's configuration file";
  const proxy = proxyOfTemporal(config.connectionOptions, env);
  const through = proxy === null ? '' : ` through ${describeProxy(proxy)}`;
  try {
    // The client's own library would say neither what the proxy answered nor why it was not reached.
    if (proxy !== null) await tryTunnel(proxy, withPort(address), AbortSignal.timeout(ANSWER_MS));
    await askServer(config.connectionOptions, (service) => service.getSystemInfo({}), env);
  } catch (cause) {
    const reason = reasonOfRefusal(cause);
    const remedy =
      proxy !== null && cause instanceof TunnelError ? remedyForProxy(proxy, cause.status) : remedyOf(reason);
    throw new Error(`nothing answers at ${address} (${source})${through}: ${reason}. ${remedy}`, { cause });
  }
  return {
    address,
    namespace: config.namespace ?? namespace,
    connection: config.connectionOptions,
    uiAddress: null,
    embedded: false,
    isOwn: true,
    source: `${source}${through}`,
    stop: () => Promise.resolve(),
  };
}

/** Reads Temporal's own variables and files. Ignores empty variables: containers pass unset ones as empty. */
function readEnvironment(env: NodeJS.ProcessEnv): ClientConnectConfig {
  const named = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  try {
    return loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(named) });
  } catch (cause) {
    const sources = named
      .filter(([name]) => /^TEMPORAL_(?:PROFILE|CONFIG_FILE|TLS_\w+_PATH)$/.test(name))
      .map(([name, value]) => `${name}=${value}`);
    const where = sources.join(', ') || "Temporal's configuration file";
    const reason = oneLine(reasonOf(cause));
    throw new Error(`Temporal's own configuration cannot be read: ${reason}. Correct or unset ${where}`, {
      cause,
    });
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Timeout for one answer, long enough for a busy machine. */
const ANSWER_MS = 5_000;

/** Sends one request to a server, without retries. @throws the server's error, or why the connection failed */
export async function askServer(
  options: TemporalServer['connection'],
  ask: (service: Connection['workflowService']) => Promise<unknown>,
  env = process.env,
): Promise<void> {
  const routed = viaProxy(options, env);
  const connection = Connection.lazy({
    ...routed,
    // Leaves out the interceptor that retries, and does not reuse channels that have just failed and wait.
    interceptors: [],
    channelArgs: { ...routed.channelArgs, 'grpc.use_local_subchannel_pool': 1 },
  });
  try {
    await connection.withDeadline(Date.now() + ANSWER_MS, () => ask(connection.workflowService));
  } finally {
    await connection.close();
  }
}

function reasonOfRefusal(error: unknown): string {
  if (!isGrpcServiceError(error)) return reasonOf(error);
  // Reads the wording of grpc-js, whose resolution note is empty.
  const [told = '', last = told] =
    error.details.split(/\. Resolution note: ?/)[0]?.split('Last error: ') ?? [];
  return oneLine(last.replace(/^Error(?: \[\w+\])?: /, '')).replace(/:$/, '');
}

/** Reasons as worded by Node and by Temporal's native part, with their remedies. */
const TLS_REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /NativeCertsNotFound/,
    'This machine has no list of certificate authorities where programs look for one: install the package ' +
      'ca-certificates, or name a file by SSL_CERT_FILE',
  ],
  [
    /altname|NotValidForName|certificate|\bissuer\b/i,
    'If it is the right server, name the file of its authority by TEMPORAL_TLS_SERVER_CA_CERT_PATH, and its name as its ' +
      'certificate has it by TEMPORAL_TLS_SERVER_NAME',
  ],
  [
    /wrong version number|packet length too long|InvalidContentType|^Failed to connect|broken pipe/i,
    'Only one side seems to speak TLS: set TEMPORAL_TLS to true, or unset it and TEMPORAL_API_KEY',
  ],
];

function remedyOf(reason: string): string {
  const start = 'Start that server, or correct its address, TEMPORAL_API_KEY or the namespace';
  return remedyOfTls(reason) ?? (isOurImage() ? start : `${start}; without one, commands start their own`);
}

export function remedyOfTls(reason: string): string | null {
  return TLS_REMEDIES.find(([pattern]) => pattern.test(reason))?.[1] ?? null;
}

/** Returns the namespace that Temporal's own environment configuration names for its server. */
export function configuredNamespace(): string | undefined {
  const { connectionOptions, namespace } = readEnvironment(process.env);
  return connectionOptions.address === undefined ? undefined : namespace;
}
