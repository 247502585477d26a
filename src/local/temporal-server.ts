import type { ClientConnectConfig } from '@temporalio/envconfig';
import type { Say } from './say';

/** What a command asks of the server it is about to use. */
export interface AttachOptions {
  /** Keeps the embedded server's database, log and records, e.g. `.conductor`. */
  readonly folder: string;
  /** The configured namespace; Temporal's own environment configuration goes before it. Default `default`. */
  readonly namespace?: string;
  /** True for a command that runs until it is told to stop (`up`): others may rely on its server. */
  readonly stays?: boolean;
  readonly say: Say;
  readonly env?: NodeJS.ProcessEnv;
}

/** The Temporal server a command uses until it calls `stop`. */
export interface TemporalServer {
  /** `host:port` of the gRPC service. */
  readonly address: string;
  readonly namespace: string;
  /** Address, TLS and API key, for `Connection.connect` and `NativeConnection.connect`. */
  readonly connection: ClientConnectConfig['connectionOptions'];
  /** URL of Temporal's web page; null where it is not known. */
  readonly uiAddress: string | null;
  /** Whether it is the folder's own, not one that Temporal's environment configuration names. */
  readonly embedded: boolean;
  /** Whether this call started it. */
  readonly started: boolean;
  /** Whether it stays up after this command has left: the user's own, or held by a command that stays. */
  readonly outlives: boolean;
  /** Where the server, or the program that runs it, came from, in words. */
  readonly source: string;
  /** Leaves the server. An embedded one is stopped by whoever leaves it last; safe to call twice. */
  stop(): Promise<void>;
}
