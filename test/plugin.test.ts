import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker, type WorkerOptions } from '@temporalio/worker';
import { stringify } from 'yaml';
import {
  ConductorClient,
  ConductorPlugin,
  type ConfigInput,
  type ExternalAnswer,
  FAILURES,
  renderPlan,
  type SolveResult,
  type Step,
  type WorkerRequest,
} from '../src';
import { newestRun } from '../src/client';
import type { double, research } from './plugin/workflows';
import { sumCosts } from '../src/store/costs';
import { callOf, type LedgerRow } from '../src/store/ledger';
import type { CostLine } from '../src/store/store';
import { freshFolder } from './local/fresh-folder';
import { veil } from './plugin/veil';
import { readLedger } from './support/ledger-of';
import { historyBytes } from './support/search-for-secrets';
import { openStage, step, type Stage } from './support/stage';
import { testTaskQueue } from './support/temporal';
import { until } from './support/until';

const workflowsPath = require.resolve('./plugin/workflows');
const payloadConverterPath = require.resolve('./plugin/big-integers');

/** Bundle as a user builds it, with workflows and a payload converter of the user's own. */
let workflowBundle: { readonly codePath: string };
beforeAll(async () => {
  workflowBundle = { codePath: join(await freshFolder(), 'workflows.js') };
  const logger = new DefaultLogger('ERROR');
  const { code } = await bundleWorkflowCode({ workflowsPath, payloadConverterPath, logger });
  await writeFile(workflowBundle.codePath, code);
});

let stage: Stage;
afterEach(() => stage.close());

describe("on a user's worker with its own data converter", () => {
  const mounts: [string, () => Partial<WorkerOptions>][] = [
    ['workflowsPath', () => ({ workflowsPath })],
    ['a prebuilt bundle', () => ({ workflowBundle })],
  ];

  test.each(mounts)(
    "%s: a question is solved, and the user's own workflow still gets its big integers",
    async (_, mount) => {
      stage = await openStage({ workers: ['a'] });
      const { temporal, taskQueue, store, providers } = stage;
      const dataConverter = { payloadConverterPath, payloadCodecs: [veil] };
      const client = new Client({ connection: temporal.client.connection, dataConverter });
      const conductor = new ConductorClient({ client, store, taskQueue });
      stage.plan([step('a', 'Say it.')]);
      providers.answer('a', 'a face');

      const worker = await Worker.create({
        connection: temporal.nativeConnection,
        taskQueue,
        dataConverter,
        plugins: [stage.plugin()],
        ...mount(),
      });
      const [doubled, result] = await worker.runUntil(() =>
        Promise.all([
          client.workflow.execute<typeof double>('double', {
            workflowId: `${taskQueue}-double`,
            taskQueue,
            args: [21n],
          }),
          conductor.solve({ question: 'What is behind the veil?' }),
        ]),
      );

      expect(doubled).toBe(42n);
      expect(result).toMatchObject({ status: 'completed', degraded: false, answer: 'a face' });
      expect(providers.log.at(-1)?.body).toContain('behind the veil');
      // The user's codec applies to everything that a solve writes, including summaries.
      const history = await historyBytes(client, result.id);
      expect(history.toString()).not.toContain('the veil');
    },
  );
});

test('plugin and client without arguments read the same file, and share its store and task queue', async () => {
  stage = await openStage({ workers: ['a'] });
  const { taskQueue, temporal } = stage;
  const store = `sqlite:${join(stage.folder, 'shared.db')}`;
  const file = join(stage.folder, 'conductor.yaml');
  await writeFile(file, stringify({ ...stage.config, store, temporal: { taskQueue } }));
  process.env.CONDUCTOR_CONFIG = file;
  try {
    const plugin = new ConductorPlugin();
    const conductor = new ConductorClient({ client: temporal.client });
    // Too long to be sent inline.
    const question = `What is ${randomBytes(3000).toString('hex')}?`;
    stage.plan([step('a', 'Say it.')]);
    stage.providers.answer('a', 'a long number');

    const result = await stage.whileWorking(() => conductor.solve({ question }), { plugins: [plugin] });

    expect(result).toMatchObject({ question, answer: 'a long number', degraded: false });
    expect(await stage.store.list('texts/')).toEqual([]);
  } finally {
    delete process.env.CONDUCTOR_CONFIG;
  }
});

describe("a user's own activities and workflows in the pool", () => {
  test('take steps like any model, and their long outputs are stored once', async () => {
    const long = randomBytes(3000).toString('hex');
    const given: WorkerRequest[] = [];
    let during: LedgerRow[] = [];
    const askArchive = async (request: WorkerRequest): Promise<ExternalAnswer> => {
      given.push(request);
      during = await rowsOfArchive();
      return { text: long };
    };

    const result = await solveWithAgents({ askArchive }, [
      step('archive', 'Look it up.'),
      step('report', 'Report.', [0]),
      step('a', 'Answer.', [0, 1]),
    ]);

    expect(given).toMatchObject([{ question: 'Who knows?', subtask: 'Look it up.', sees: [], step: 0 }]);
    expect(result).toMatchObject({ status: 'completed', degraded: false, answer: 'the answer' });
    expect(outputs(result)).toEqual([long, 'Report.\narchive: 6000 bytes in the store', 'the answer']);
    expect(stage.providers.log.at(-1)?.body).toContain(long);
    expect(await stage.store.list('texts/')).toHaveLength(1);
    // Reported tokens count; unknown usage makes the cost a lower bound instead of counting as zero.
    expect(result.calls.find(({ worker }) => worker === 'report')?.usage).toMatchObject({ inputTokens: 30 });
    expect(result.calls.find(({ worker }) => worker === 'archive')?.nanoUsd).toBe(10_000_000);
    expect(result).toMatchObject({ costIsLowerBound: true });
    // The price per call is booked before the call; `report`, which has no price, gets no row.
    expect(during).toMatchObject([{ nanoUsd: 10_000_000, endedAt: null }]);
    expect(await rowsOfArchive()).toMatchObject([
      { nanoUsd: 10_000_000, endedAt: expect.any(String) as string, rootId: result.id },
    ]);
    expect(await callsByWorker()).toMatchObject([
      { name: 'archive', calls: 1, open: 0, unknown: 0, nanoUsd: 10_000_000 },
      { name: 'a', calls: 1 },
      { name: 'conductor', calls: 1 },
    ]);
  });

  test('may fail: the others still answer, degraded, and the trace gives each reason', async () => {
    const askArchive = (): Promise<ExternalAnswer> =>
      Promise.reject(ApplicationFailure.nonRetryable('the archive is closed on Sundays'));
    const mumble = (): Promise<unknown> => Promise.resolve({ txt: 'hm' });

    const result = await solveWithAgents({ askArchive, mumble }, [
      step('archive', 'Look it up.'),
      step('mumbler', 'Speak up.'),
      step('spent', 'Go on.'),
      step('a', 'Answer.', [0, 1, 2]),
    ]);

    expect(result).toMatchObject({ status: 'completed', degraded: true, answer: 'the answer' });
    const reasons = result.rounds[0]?.steps.map(({ error }) => error?.message ?? null);
    expect(reasons).toEqual([
      expect.stringContaining('the archive is closed on Sundays'),
      expect.stringMatching(/mumble did not return \{ text, usage\? \}/),
      expect.stringContaining('the agent has no budget left'),
      null,
    ]);
    // The call may have cost something before it failed.
    const [row] = await rowsOfArchive();
    expect(row).toMatchObject({ nanoUsd: null, endedAt: expect.any(String) as string });
    expect(row && callOf(row)).toEqual(result.calls.find(({ worker }) => worker === 'archive'));
  });

  test('are booked at their price again when a call that timed out is repeated', async () => {
    let calls = 0;
    const askArchive = (): Promise<ExternalAnswer> => {
      if (++calls > 1) return Promise.resolve({ text: 'It is open.' });
      return Promise.reject(ApplicationFailure.nonRetryable('It was too late.', FAILURES.timeout));
    };

    const result = await solveWithAgents({ askArchive }, [
      step('archive', 'Look it up.'),
      step('a', 'Answer.', [0]),
    ]);

    const booked = result.calls.filter(({ worker }) => worker === 'archive');
    expect(booked).toMatchObject([
      { attempt: 1, nanoUsd: null },
      { attempt: 2, nanoUsd: 10_000_000 },
    ]);
    expect((await rowsOfArchive()).map(callOf)).toEqual(booked);
  });
});

async function rowsOfArchive(): Promise<LedgerRow[]> {
  return (await readLedger(stage.store)).filter(({ worker }) => worker === 'archive');
}

async function callsByWorker(): Promise<CostLine[]> {
  const { lines } = await sumCosts(stage.store, { by: 'worker', zone: 'utc' });
  return [...lines].sort((one, other) => other.nanoUsd - one.nanoUsd || (one.name < other.name ? -1 : 1));
}

test("a solve started by a user's workflow is listed, found, approved and read like any other", async () => {
  stage = await openStage({
    workers: ['a', 'b'],
    configure: (config) => ({ ...config, limits: { depth: 1, costUsd: null }, recursion: 'review' }),
  });
  const { client, temporal, taskQueue, providers } = stage;
  const long = randomBytes(3000).toString('hex');
  stage.plan([step('a', 'Look it up.'), step('b', 'Answer.', [0])]);
  stage.plan([]);
  providers.answer('a', long);
  providers.answer('b', 'forty-two');
  const id = `${taskQueue}-solve`;
  const start = {
    workflowId: `${taskQueue}-research`,
    taskQueue,
    args: ['What is it?', id] as [string, string],
  };

  const outputs = await stage.whileWorking(
    async () => {
      const parent = await temporal.client.workflow.start<typeof research>('research', start);
      const { runs } = await until(
        () => client.list({ taskQueue }),
        (list) => list.runs[0]?.waitsFor === 'approval',
      );
      expect(runs.map((run) => run.id)).toEqual([id]);
      expect(await newestRun(temporal.client, taskQueue, [])).toBe(id);
      await client.approvePlan(id);
      return parent.result();
    },
    { workflowBundle },
  );

  expect(outputs).toEqual([long, 'forty-two']);
  // A review is part of its run, and is not listed as a run of its own.
  const { runs } = await until(
    () => client.list({ taskQueue }),
    (list) => list.runs[0]?.status === 'completed',
  );
  expect(runs.map((run) => run.id)).toEqual([id]);
  expect((await client.trace(id)).rounds).toHaveLength(2);
});

/** Task queue of the user's own agents, which run on a different worker than solves, as in production. */
const AGENTS = testTaskQueue();

const agents: ConfigInput['workers'] = [
  { id: 'archive', provider: 'activity', type: 'askArchive', taskQueue: AGENTS, price: { perCall: 0.01 } },
  { id: 'mumbler', provider: 'activity', type: 'mumble', taskQueue: AGENTS },
  { id: 'report', provider: 'workflow', type: 'reportWhatIsSeen', taskQueue: AGENTS },
  { id: 'spent', provider: 'workflow', type: 'giveUp', taskQueue: AGENTS },
];

/** Solves a question by these steps; the agents run on a worker of their own, next to a model `a`. */
async function solveWithAgents(activities: object, steps: readonly Step[]): Promise<SolveResult> {
  stage = await openStage({
    workers: ['a'],
    configure: (config) => ({ ...config, workers: [...config.workers, ...agents] }),
  });
  stage.providers.script('conductor', [renderPlan({ steps }, ['a', ...agents.map(({ id }) => id)])]);
  stage.providers.answer('a', 'the answer');
  const { nativeConnection: connection } = stage.temporal;
  const worker = await Worker.create({ connection, taskQueue: AGENTS, workflowBundle, activities });
  return worker.runUntil(() => stage.whileWorking(() => stage.client.solve({ question: 'Who knows?' })));
}

function outputs({ rounds }: SolveResult): (string | null)[] {
  return rounds.flatMap(({ steps }) => steps.map(({ output }) => output));
}
