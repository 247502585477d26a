import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerOptions } from '@temporalio/worker';
import {
  ConductorClient,
  ConductorPlugin,
  type ConfigInput,
  renderPlan,
  type SolveRequest,
  type SolveResult,
  type Step,
  type Store,
} from '../../src';
import { EvaluationPlugin } from '../../src/evaluation';
import { type TrainableInput, TrainingPlugin } from '../../src/training';
import { CONDUCTOR_ID } from '../../src/protocol/names';
import { SqliteStore } from '../../src/store/sqlite-store';
import type { LedgerRow } from '../../src/store/ledger';
import {
  type RequestRecord,
  type SimulatedProviders,
  type Simulation,
  startSimulatedProviders,
} from '../../src/testing';
import { rowsOfRun } from './ledger-of';
import { searchForSecrets, TEST_KEY } from './search-for-secrets';
import { connect, testTaskQueue, type TestTemporal, workflowBundle } from './temporal';
import { TestWorker } from './test-worker';
import { useEach } from './use';

export { step } from './step';

type Worked = Extract<ConfigInput['workers'][number], { readonly provider: 'openai' }>;

/** Environment variable that holds the API key of every model of a stage. */
export const STAGE_KEY = 'STAGE_KEY';

export interface StageOptions {
  /** Names of the workers; each is a model of the same name behind the simulated OpenAI chat API. */
  readonly workers?: readonly string[];
  /** Replaces keys of the configuration, and of its limits. */
  readonly config?: Partial<ConfigInput>;
  /** Replaces keys of every worker. */
  readonly worker?: Partial<Worked>;
  /** Changes the configuration further, given the providers' URL. */
  readonly configure?: (config: ConfigInput, url: string) => ConfigInput;
  readonly simulation?: Simulation;
  /** Address of the test's own Temporal server. */
  readonly address?: string;
  /** How many runs the stage's worker keeps between their tasks. @default Temporal's own */
  readonly maxCachedWorkflows?: number;
  /** Whether the stage's own worker also runs evaluations. */
  readonly evaluates?: boolean;
  /** Store to use instead of one in the stage's folder. */
  readonly store?: Store;
}

/** Everything that a test of a whole solve needs: its own providers, store, task queue and client. */
export interface Stage {
  readonly temporal: TestTemporal;
  readonly client: ConductorClient;
  readonly providers: SimulatedProviders;
  readonly store: Store;
  readonly folder: string;
  readonly taskQueue: string;
  /** Configuration of the worker, for a worker in another process. */
  readonly config: TrainableInput;
  /** Makes the Conductor write this plan next. */
  plan(steps: readonly Step[]): void;
  /** Solves a question with a worker that stops afterwards. */
  solve(request: SolveRequest, id?: string): Promise<SolveResult>;
  /** Requests to a model, in order. */
  requestsTo(model: string): RequestRecord[];
  /** Ledger rows of a run. */
  rows(id: string): Promise<LedgerRow[]>;
  /** Plugin of the stage's own worker, for a test that creates another worker. */
  plugin(): ConductorPlugin | EvaluationPlugin | TrainingPlugin;
  /** Runs a worker for as long as `work` takes. */
  whileWorking<T>(work: () => Promise<T>, options?: Partial<WorkerOptions>): Promise<T>;
  close(): Promise<void>;
}

const WORKERS = ['a', 'b', 'c'];

/**
 * Shortest time between two heartbeats of a call. Temporal would hold one back for four fifths of its timeout, and a busy
 * machine with a short one be taken for lost.
 */
const HEARTBEATS_APART = '500ms';

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const { workers = WORKERS, simulation = {}, configure = (config: ConfigInput) => config } = options;
  const folder = await mkdtemp(join(tmpdir(), 'stage-'));
  const [temporal, providers] = await Promise.all([
    connect(options.address),
    startSimulatedProviders(simulation),
  ]);
  process.env[STAGE_KEY] = TEST_KEY;
  const usual = configOf(options, providers.url, folder);
  const limits = { ...usual.limits, ...options.config?.limits };
  const config = configure({ ...usual, ...options.config, limits }, providers.url) as TrainableInput;
  const store = options.store ?? new SqliteStore(join(folder, 'store.db'));
  const taskQueue = testTaskQueue();
  const trains = config.training !== undefined || config.conductor.provider === 'policy';
  const Plugin = trains ? TrainingPlugin : options.evaluates === true ? EvaluationPlugin : ConductorPlugin;
  const plugin = () => new Plugin({ config, store });
  const client = new ConductorClient({ client: temporal.client, store, taskQueue });
  const whileWorking: Stage['whileWorking'] = async (work, workerOptions = {}) => {
    const worker = await TestWorker.create({
      connection: temporal.nativeConnection,
      taskQueue,
      workflowBundle: workflowBundle(),
      plugins: [plugin()],
      maxCachedWorkflows: options.maxCachedWorkflows,
      maxHeartbeatThrottleInterval: HEARTBEATS_APART,
      ...workerOptions,
    });
    return worker.runUntil(work);
  };
  return {
    temporal,
    client,
    providers,
    store,
    folder,
    taskQueue,
    config,
    plan: (steps) => {
      providers.script('conductor', [renderPlan({ steps }, [...workers, CONDUCTOR_ID])]);
    },
    solve: (request, id) => whileWorking(() => client.solve(request, id)),
    requestsTo: (name) => providers.log.filter(({ model }) => model === name),
    rows: async (id) => {
      const { runId } = await temporal.client.workflow.getHandle(id).describe();
      return rowsOfRun(store, runId);
    },
    plugin,
    whileWorking,
    close: async () => {
      await searchForSecrets(temporal.client, taskQueue, folder);
      await Promise.all([temporal.close(), providers.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens a new stage for each test of a file or a block. */
export function useStage(options?: StageOptions): Stage {
  return useEach(() => openStage(options));
}

function configOf(
  { workers = WORKERS, worker = {} }: StageOptions,
  url: string,
  folder: string,
): ConfigInput {
  const model = (name: string) => ({
    provider: 'openai' as const,
    model: name,
    baseUrl: `${url}/v1`,
    apiKeyEnv: STAGE_KEY,
    price: { input: 2, output: 10 },
  });
  return {
    conductor: model('conductor'),
    workers: workers.map((id) => ({ id, ...model(id), ...worker })),
    store: `sqlite:${join(folder, 'store.db')}`,
    // Worst cases grow with each byte, and some tests send megabytes.
    limits: { costUsd: null },
    temporal: { heartbeat: '5s' },
  };
}

/** Reply of the Conductor that accepts the present answer. */
export const ACCEPT = 'model_id = []\nsubtasks = []\naccess_list = []';
