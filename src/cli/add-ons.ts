import type { WorkerPlugin } from '@temporalio/worker';
import type { PolicyProvider } from '../activities/model-call';
import type { LoadConfigOptions, LoadedConfig } from '../config/load';
import type { Config } from '../config/schema';
import type { TemporalServer } from '../local/configured-server';
import type { Store, Swept } from '../store/store';
import type { Finding } from './finding';

/** What evaluation and training bring to the commands of the core, which knows neither. */
export interface AddOn {
  /** Reads a configuration that mentions this section. */
  readonly section?: {
    readonly name: string;
    readonly load: (options: LoadConfigOptions) => Promise<LoadedConfig>;
  };
  /** URLs of buckets and databases that it opens beside the store. */
  readonly placesOf?: (config: Config) => readonly string[];
  /** A worker's plugin instead of the core's own; null where the configuration does not ask for it. */
  readonly pluginFor?: (
    solved: { readonly config: Config; readonly store: Store },
    servesCheckpoints: boolean,
  ) => Promise<{ readonly plugin: WorkerPlugin; readonly bundle: 'workflow' | 'training' } | null>;
  /** A workflow that commands can resume, and the command that stops one, without the program's name. */
  readonly workflowOf?: (config: Config) => { type: string; stopOf: (id: string) => string } | null;
  readonly check?: (place: CheckedPlace) => Promise<readonly Finding[]>;
  /** Removes what is old and of no use, for `store gc`; null where there is nothing of the kind. */
  readonly sweep?: (
    config: Config,
    how: { olderThanMs: number; dryRun: boolean },
  ) => Promise<SweptKind | null>;
  /** A process that `up` runs beside its worker, and the command that it is. */
  readonly part?: { readonly name: string; readonly command: string };
  readonly policyOf?: (store: Store) => Promise<PolicyProvider>;
  /** @throws UsageError for a method of an evaluation that names what the store does not know */
  readonly checkMethods?: (store: Store, methods: readonly string[]) => Promise<void>;
}

export interface CheckedPlace {
  readonly config: Config;
  readonly server: Partial<Pick<TemporalServer, 'connection' | 'namespace'>>;
  /** Whether the store, and the places of add-ons, may be asked with what opens them. */
  readonly isStoreTrusted: boolean;
}

export interface SweptKind extends Swept {
  readonly what: string;
}

/** The add-ons of this process, see `main.ts`. */
export const addOns: AddOn[] = [];
