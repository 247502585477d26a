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
  /** Serves a worker instead of the core's own plugin; null where the configuration does not ask for it. */
  readonly pluginFor?: (
    solved: { readonly config: Config; readonly store: Store },
    servesCheckpoints: boolean,
  ) => Promise<PluginAndBundle | null>;
  /** Workflows that a worker of this configuration goes on with. */
  readonly workflowOf?: (config: Config) => ResumedWorkflow | null;
  /** Looks for what it needs, for `doctor`. */
  readonly check?: (place: CheckedPlace) => Promise<readonly Finding[]>;
  /** Removes what is old and of no use, for `store gc`; null where there is nothing of the kind. */
  readonly sweep?: (
    config: Config,
    how: { olderThanMs: number; dryRun: boolean },
  ) => Promise<SweptKind | null>;
  readonly policyOf?: (store: Store, config: Config) => Promise<PolicyProvider>;
  /** @throws UsageError for a method of an evaluation that names what the store does not know */
  readonly checkMethods?: (store: Store, methods: readonly string[]) => Promise<void>;
}

interface PluginAndBundle {
  readonly plugin: WorkerPlugin;
  /** Begins the name of the bundle of its workflows. */
  readonly bundle: 'workflow' | 'training';
}

interface ResumedWorkflow {
  readonly type: string;
  /** The command that stops one, without the program's name. */
  readonly stopOf: (id: string) => string;
}

export interface CheckedPlace {
  readonly config: Config;
  /** Nothing of a server that does not run. */
  readonly server: Partial<Pick<TemporalServer, 'connection' | 'namespace'>>;
  /** Whether the store, and the places of add-ons, may be asked with what opens them. */
  readonly isStoreTrusted: boolean;
}

export interface SweptKind extends Swept {
  /** One of these, in a word. */
  readonly what: string;
}

/** The add-ons of this process, see `main.ts`. */
export const addOns: AddOn[] = [];
