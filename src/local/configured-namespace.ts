import { loadClientConnectConfig } from '@temporalio/envconfig';

/**
 * The namespace that Temporal's own environment configuration names for its server; undefined where it names no server,
 * and the embedded one holds what the configuration of ours says.
 */
export function configuredNamespace(): string | undefined {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return connectionOptions.address === undefined ? undefined : namespace;
}
