import { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { renderPlan } from '../../src';
import { METRICS } from '../../src/telemetry/metrics';
import { closedPort } from '../support/closed-port';
import { HAS_PROMETHEUS, startPrometheus, testRules } from '../support/prometheus';
import { openScriptedTraining, REPLIES, type ScriptedTraining } from '../support/scripted-training';
import { TEST_KEY } from '../support/search-for-secrets';
import { step } from '../support/step';
import { endOf, until, untilTrace } from '../support/until';
import { askedBy, readQueries } from '../telemetry/queries';
import { type Ended, endedWith, type RunningCommand, said, startCommand } from './command';
import { type Folder, makeFolder } from './folder';

jest.setTimeout(240_000);

// Words that no metric may tell.
const QUESTION = 'Where does the Zwiefalter Aach rise?';
const TENANT = 'tenant-of-nobody';
const ANSWER = 'In a cave.';

let stage: ScriptedTraining;
let folder: Folder;
let port: number;
let worker: RunningCommand;
let ids: string[];
/** What the worker had counted when the solves had ended, before the night. */
let afterSolves: Sample[];

const place = () => ({
  cwd: folder.path,
  env: { TEMPORAL_ADDRESS: stage.temporal.address, STAGE_KEY: TEST_KEY },
});

beforeAll(async () => {
  stage = await openScriptedTraining();
  folder = await makeFolder();
  const { config, taskQueue } = stage;
  const workers = config.workers.map((each) => (each.id === 'c' ? { ...each, concurrency: 1 } : each));
  const temporal = { ...config.temporal, taskQueue };
  await folder.write('conductor.yaml', { ...config, workers, temporal });
  port = await closedPort();
  worker = startCommand(['worker', '--trust', '--metrics', String(port), '--log-format', 'json'], place());
  await worker.hear(/"message":"Ready/);
  ids = [await answered(), await repaired(), await failed(), await refused(), await approved()];
  ids.push(...(await atOnce()));
  afterSolves = await scrape();
  await trainNight();
});
afterAll(async () => {
  await worker.end('SIGTERM');
  await stage.close();
  await folder.remove();
});

async function answered(): Promise<string> {
  stage.providers.script('a', [ANSWER]);
  stage.plan([step('a', 'Look it up.')]);
  return solved('completed', { tenant: TENANT });
}

async function repaired(): Promise<string> {
  stage.providers.script('conductor', ['I would ask somebody.', REPLIES.right]);
  return solved('completed');
}

async function failed(): Promise<string> {
  stage.plan([step('b', 'Look it up.')]);
  stage.providers.script('b', [{ fault: 'bad-request', message: 'bad_request: the request is wrong' }]);
  return solved('failed');
}

async function refused(): Promise<string> {
  return solved('failed', { limits: { costUsd: 0.000_001 } });
}

async function approved(): Promise<string> {
  stage.plan([step('a', 'Look it up.')]);
  const { id } = await stage.client.start({ question: QUESTION, approval: 'plan' });
  await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
  await stage.client.approvePlan(id);
  await endOf(stage, id);
  return id;
}

/** Solves two questions whose worker takes one call at a time. */
async function atOnce(): Promise<string[]> {
  stage.providers.answer('conductor', renderPlan({ steps: [step('c', 'Look it up.')] }, ['a', 'b', 'c']));
  const release = stage.providers.hold('c');
  const runs = await Promise.all([1, 2].map(() => stage.client.start({ question: QUESTION })));
  await until(
    scrape,
    (found) => valueOf(found, 'conductor_wait_seconds_count', { reason: 'concurrency' }) > 0,
  );
  release();
  await Promise.all(runs.map(({ id }) => endOf(stage, id)));
  return runs.map(({ id }) => id);
}

async function solved(status: string, more: object = {}): Promise<string> {
  const { id } = await stage.client.start({ question: QUESTION, ...more });
  expect(await endOf(stage, id)).toMatchObject({ status });
  return id;
}

async function trainNight(): Promise<void> {
  const { temporal, trainerQueue, trainer } = stage;
  const connection = temporal.nativeConnection;
  const python = await Worker.create({ connection, taskQueue: trainerQueue, activities: trainer });
  await python.runUntil(() => stage.train());
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

async function scrapeText(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

async function scrape(): Promise<Sample[]> {
  const rows = (await scrapeText()).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  return [...rows].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', word = '']): [string, string] => [
        key,
        word,
      ]),
    ),
    value: Number(value),
  }));
}

function valueOf(samples: readonly Sample[], name: string, labels: Sample['labels'] = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

test('every metric is there after solves and a night', async () => {
  const samples = await scrape();
  const families = Object.values(METRICS).map(
    ({ name, kind }) => name + (kind === 'counter' ? '_total' : '_count'),
  );
  expect(families.filter((name) => valueOf(samples, name) === 0)).toEqual([]);
  const tops = ['conductor_model_call_seconds', 'temporal_activity_execution_latency'].map((name) => {
    const bounds = samples.flatMap((each) => (each.name === `${name}_bucket` ? Number(each.labels.le) : []));
    return Math.max(...bounds.filter(Number.isFinite));
  });
  expect(tops).toEqual([600, 600]);
});

test('what was counted of a model is what the ledger holds of it', async () => {
  const rows = (await Promise.all(ids.map((id) => stage.rows(id)))).flat();
  const own = rows.filter(({ model }) => model === 'conductor');
  const sumOf = (count: (row: (typeof own)[number]) => number | undefined) =>
    own.reduce((sum, row) => sum + (count(row) ?? 0), 0);
  const counted = (name: string, labels = {}) =>
    valueOf(afterSolves, name, { model: 'conductor', ...labels });
  expect(counted('conductor_model_calls_total')).toBe(own.length);
  expect(counted('conductor_cost_nano_usd_total')).toBe(sumOf(({ nanoUsd }) => nanoUsd ?? 0));
  expect(counted('conductor_cost_nano_usd_total')).toBeGreaterThan(0);
  const [input, output] = ['input', 'output'].map((type) => counted('conductor_tokens_total', { type }));
  expect([input, output]).toEqual([
    sumOf(({ usage }) => usage?.inputTokens),
    sumOf(({ usage }) => usage?.outputTokens),
  ]);
});

test('how solves ended, what was repaired, refused and waited for is counted once each', () => {
  expect(
    [
      ['conductor_solves_total', { status: 'completed' }],
      ['conductor_solves_total', { status: 'failed' }],
      ['conductor_model_calls_total', { outcome: 'Provider.BadRequest' }],
      ['conductor_plan_repairs_total', { model: 'conductor', outcome: 'repaired' }],
      ['conductor_budget_refusals_total', { limit: 'cost' }],
      ['conductor_wait_seconds_count', { reason: 'person' }],
    ].map(([name, labels]) => valueOf(afterSolves, name as string, labels as Sample['labels'])),
  ).toEqual([5, 2, 1, 1, 1, 1]);
});

test('no label holds a tenant, a key, a run, a question or an answer', async () => {
  const text = await scrapeText();
  const secrets = [QUESTION, TENANT, ANSWER, TEST_KEY, stage.trainRun, ...ids, 'Look it up'];
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  const ours = (await scrape()).filter(({ name }) => name.startsWith('conductor_'));
  const labels = new Set(ours.flatMap((sample) => Object.keys(sample.labels)));
  const sdks = ['namespace', 'taskQueue', 'activityType', 'workflowType', 'service_name', 'le'];
  const own = Object.values(METRICS).flatMap((metric) => [...metric.labels] as string[]);
  expect([...labels].filter((label) => ![...sdks, ...own].includes(label))).toEqual([]);
});

test('dashboard and alerts ask for what a scrape has', async () => {
  const samples = await scrape();
  const { dashboard, alerts } = readQueries();
  // Begins when Temporal is away, as it was not here.
  const isOfBadTimes = (query: string): boolean => query.includes('temporal_long_request_failure_total');
  const asked = [...dashboard, ...alerts].filter((query) => !isOfBadTimes(query)).flatMap(askedBy);
  const missing = asked.filter(({ family, labels }) => {
    const own = samples.filter(({ name }) => [family, `${family}_bucket`].includes(name));
    return !own.some((sample) => labels.every((label) => label in sample.labels));
  });
  expect(missing).toEqual([]);
});

(HAS_PROMETHEUS ? describe : describe.skip)('Prometheus itself', () => {
  test('scrapes a worker, and answers each query of the dashboard, and understands the alerts', async () => {
    const prometheus = await startPrometheus(`127.0.0.1:${port}`);
    try {
      const counted = await prometheus.ask('sum(conductor_solves_total)');
      const solves = valueOf(await scrape(), 'conductor_solves_total');
      expect(counted.data?.result.map(({ value: [, text] }) => Number(text))).toEqual([solves]);
      // A rate needs two scrapes.
      await until(
        () => prometheus.ask('count_over_time(up[1m]) > 2'),
        ({ data }) => data?.result.length === 1,
      );
      const { dashboard, alerts } = readQueries();
      const ask = (query: string) => prometheus.ask(query.replaceAll('$__rate_interval', '1m'));
      const shown = await Promise.all(dashboard.map(ask));
      const called = await Promise.all(alerts.map(ask));
      expect([...shown, ...called].filter(({ status }) => status !== 'success')).toEqual([]);
      expect(dashboard.filter((_, at) => shown[at]?.data?.result.length === 0)).toEqual([]);
      // What has happened once is shown: the series of a limit began with it.
      const stopped = shown[dashboard.findIndex((query) => query.includes('budget_refusals'))];
      expect(stopped?.data?.result.map(({ value: [, text] }) => text)).toEqual(['1']);
    } finally {
      await prometheus.close();
    }
  });

  test('calls somebody when it should, and nobody when all is well', () => {
    expect(testRules()).toMatchObject({ status: 0, stderr: '' });
  });
});

test('a port that is taken, and an address that is none, are refused in a sentence', async () => {
  const start = (address: string): Promise<Ended> =>
    startCommand(['worker', '--trust', '--metrics', address], place()).ended;
  const [taken, bad] = await Promise.all([start(String(port)), start('localhost:99999')]);
  expect(taken).toMatchObject(endedWith(2, `--metrics cannot use 127.0.0.1:${port} (`));
  expect(taken).toMatchObject(endedWith(2, 'choose another'));
  expect(bad).toMatchObject(endedWith(2, 'Expected a port, or an address of this machine with one'));
});

const lineSchema = z.looseObject({ level: z.string(), time: z.iso.datetime(), message: z.string().min(1) });

test('each line is a JSON object, which names run, step and attempt where there are some', async () => {
  const { stderr } = await worker.end('SIGTERM');
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => lineSchema.parse(JSON.parse(line)));
  const [, , failedRun] = ids;
  const told = (facts: object): unknown => expect.objectContaining(facts);
  const cause = said('bad_request: the request is wrong');
  const ofStep = { level: 'WARN', runId: failedRun, step: 1, attempt: 1, error: cause };
  expect(lines).toContainEqual(told({ ...ofStep, activityType: 'conductor.callWorker' }));
  expect(lines).toContainEqual(told({ level: 'WARN', runId: failedRun, message: 'Workflow failed' }));
  expect(lines).toContainEqual(told({ level: 'INFO', message: said(/^Ready/) }));
});
