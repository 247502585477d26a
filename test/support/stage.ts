import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker, type WorkerOptions } from '@temporalio/worker';
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

export { step } from './step';

/** Set by jest's project `uncached`. */
declare global {
  var maxCachedWorkflows: number | undefined;
}

/** Variable of the key that every model of a stage is asked with. */
export const STAGE_KEY = 'STAGE_KEY';

export interface StageOptions {
  /** Names of workers, each a model of the same name behind the simulated OpenAI chat API. */
  readonly workers?: readonly string[];
  /** Changes to the configuration, given the providers' URL. */
  readonly configure?: (config: ConfigInput, url: string) => ConfigInput;
  readonly simulation?: Simulation;
  /** Address of a server of the test's own. */
  readonly address?: string;
  /** The stage's own worker evaluates, too. */
  readonly evaluates?: boolean;
  /** Another store than one in a folder of the stage's own. */
  readonly store?: Store;
}

/** Everything one test of a whole solve needs: providers, a store, a task queue and a client, all its own. */
export interface Stage {
  readonly temporal: TestTemporal;
  readonly client: ConductorClient;
  readonly providers: SimulatedProviders;
  readonly store: Store;
  readonly folder: string;
  readonly taskQueue: string;
  /** Configuration of the worker, for one in another process. */
  readonly config: TrainableInput;
  /** Lets the Conductor write this plan next. */
  plan(steps: readonly Step[]): void;
  /** Solves by a worker that runs for no longer. */
  solve(request: SolveRequest, id?: string): Promise<SolveResult>;
  /** What a model was asked, in order. */
  requestsTo(model: string): RequestRecord[];
  /** The ledger of a run. */
  rows(id: string): Promise<LedgerRow[]>;
  /** Plugin of the stage's own worker, for a test that sets up another one. */
  plugin(): ConductorPlugin | EvaluationPlugin | TrainingPlugin;
  /** Runs a worker for as long as `work` takes. */
  whileWorking<T>(work: () => Promise<T>, options?: Partial<WorkerOptions>): Promise<T>;
  close(): Promise<void>;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const { workers = ['a', 'b', 'c'], simulation = {}, configure = (config: ConfigInput) => config } = options;
  const folder = await mkdtemp(join(tmpdir(), 'stage-'));
  const [temporal, providers] = await Promise.all([
    connect(options.address),
    startSimulatedProviders(simulation),
  ]);
  process.env[STAGE_KEY] = TEST_KEY;
  const config = configure(configOf(workers, providers.url, folder), providers.url) as TrainableInput;
  const store = options.store ?? new SqliteStore(join(folder, 'store.db'));
  const taskQueue = testTaskQueue();
  const trains = config.training !== undefined || config.conductor.provider === 'policy';
  const Plugin = trains ? TrainingPlugin : options.evaluates === true ? EvaluationPlugin : ConductorPlugin;
  const plugin = () => new Plugin({ config, store });
  const client = new ConductorClient({ client: temporal.client, store, taskQueue });
  const whileWorking: Stage['whileWorking'] = async (work, workerOptions = {}) => {
    const worker = await Worker.create({
      connection: temporal.nativeConnection,
      taskQueue,
      workflowBundle: workflowBundle(),
      plugins: [plugin()],
      maxCachedWorkflows: globalThis.maxCachedWorkflows,
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

/** A stage of their own for the tests of a file, or of a block. */
export function useStage(options?: StageOptions): Stage {
  const opened = {} as { stage: Stage };
  beforeEach(async () => {
    opened.stage = await openStage(options);
  });
  afterEach(() => opened.stage.close());
  return new Proxy({} as Stage, { get: (_, name) => Reflect.get(opened.stage, name) as unknown });
}

function configOf(workers: readonly string[], url: string, folder: string): ConfigInput {
  const model = (name: string) => ({
    provider: 'openai' as const,
    model: name,
    baseUrl: `${url}/v1`,
    apiKeyEnv: STAGE_KEY,
    price: { input: 2, output: 10 },
  });
  return {
    conductor: model('conductor'),
    workers: workers.map((id) => ({ id, ...model(id) })),
    store: `sqlite:${join(folder, 'store.db')}`,
    // Worst cases are reckoned by the byte, and some tests are about megabytes.
    limits: { costUsd: null },
    temporal: { heartbeat: '5s' },
  };
}

/** A reply of the Conductor that accepts the answer at hand. */
export const ACCEPT = 'model_id = []\nsubtasks = []\naccess_list = []';
