import type { WorkerPlugin } from '@temporalio/worker';
import type { PolicyProvider } from '../activities/model-call';
import type { LoadConfigOptions, LoadedConfig } from '../config/load';
import type { Config } from '../config/schema';
import type { TemporalServer } from '../local/configured-server';
import type { Store, Swept } from '../store/store';
import type { Finding } from './finding';

/** Extension of the core's commands by evaluation, training or the gateway. */
export interface AddOn {
  /** Loads a configuration that mentions this section. */
  readonly section?: {
    readonly name: string;
    readonly load: (options: LoadConfigOptions) => Promise<LoadedConfig>;
  };
  /** URLs of buckets and databases that it opens besides the store. */
  readonly placesOf?: (config: Config) => readonly string[];
  /** A worker's plugin and workflow bundle, or null if the configuration does not need this add-on. */
  readonly pluginFor?: (
    solved: { readonly config: Config; readonly store: Store },
    servesCheckpoints: boolean,
  ) => Promise<{ readonly plugin: WorkerPlugin; readonly bundle: 'workflow' | 'training' } | null>;
  /** Workflow type that commands can resume, and the command that stops one, without the program's name. */
  readonly workflowOf?: (config: Config) => { type: string; stopOf: (id: string) => string } | null;
  readonly check?: (place: CheckedPlace) => Promise<readonly Finding[]>;
  /** Removes old, unused objects for `store gc`; returns null if the add-on is not configured. */
  readonly sweep?: (
    config: Config,
    how: { olderThanMs: number; dryRun: boolean },
  ) => Promise<SweptKind | null>;
  /** Process that `up` runs beside its worker, and the command that starts it. */
  readonly part?: { readonly name: string; readonly command: string };
  readonly policyOf?: (store: Store) => Promise<PolicyProvider>;
  /** @throws UsageError if an evaluation method names a checkpoint that the store does not have */
  readonly checkMethods?: (store: Store, methods: readonly string[]) => Promise<void>;
}

export interface CheckedPlace {
  readonly config: Config;
  readonly server: Partial<Pick<TemporalServer, 'connection' | 'namespace'>>;
  /** Whether credentials may be sent to the store and to the places of add-ons. */
  readonly isStoreTrusted: boolean;
}

export interface SweptKind extends Swept {
  readonly what: string;
}

/** The add-ons of this process, see `main.ts`. */
export const addOns: AddOn[] = [];
