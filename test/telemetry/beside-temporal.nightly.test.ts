import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import * as sdk1 from 'otel-sdk-1';
import { freshFolder } from '../local/fresh-folder';
import { EVALUATION_SHAPES } from '../replay/evaluations/shapes';
import { SHAPES } from '../replay/shapes';
import { step, useStage } from '../support/stage';
import { workflowBundle } from '../support/temporal';
import { TestWorker } from '../support/test-worker';
import { keepSpans, type SpanKeeper, spanNamed } from './kept-spans';

// Temporal's own interceptors for OpenTelemetry, beside our spans: docs/telemetry.md, "Where a run hangs".

const HISTORIES = join(__dirname, '..', 'replay');

let codePath: string;
beforeAll(async () => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../src/training/workflows'),
    workflowInterceptorModules: [
      require.resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors'),
    ],
    logger: new DefaultLogger('ERROR'),
  });
  codePath = join(await freshFolder(), 'workflows.js');
  await writeFile(codePath, code);
});

const stage = useStage();
let keeper: SpanKeeper;
let ofWorkflows: sdk1.InMemorySpanExporter;
beforeEach(() => {
  keeper = keepSpans('1.x');
  ofWorkflows = new sdk1.InMemorySpanExporter();
});
afterEach(() => keeper.close());

function interceptors(): OpenTelemetryPlugin {
  const { resource } = new sdk1.NodeTracerProvider();
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- two copies of one class
  return new OpenTelemetryPlugin({ resource, spanProcessor: new sdk1.SimpleSpanProcessor(ofWorkflows) });
}

/** Returns the id that a recorded run had, of which those of its children are made. */
function idOf(folder: string, name: string): string | undefined {
  if (folder === 'histories') return `${name}${SHAPES[name]?.child ?? ''}`;
  if (folder !== 'evaluations/histories') return undefined;
  return `eval-${name}${EVALUATION_SHAPES[name]?.ofQuestion === true ? '-1' : ''}`;
}

/** Recorded while random ids were drawn from the numbers that the interceptors draw from: the page says what follows. */
const FROM_THEIR_NUMBERS = ['asks-its-caller.json', 'asks-workflows.json'];

function replay(folder: string, file: string): Promise<void> {
  const history: unknown = JSON.parse(readFileSync(join(HISTORIES, folder, file), 'utf8'));
  const options = { workflowBundle: { codePath }, plugins: [interceptors()] };
  return TestWorker.runReplayHistory(options, history, idOf(folder, file.replace(/\.json$/, '')));
}

test.each(['histories', 'nights/histories', 'evaluations/histories'])(
  'recorded %s replay with them, and make no span',
  async (folder) => {
    const files = readdirSync(join(HISTORIES, folder)).filter((file) => !FROM_THEIR_NUMBERS.includes(file));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) await replay(folder, file);
    expect([...ofWorkflows.getFinishedSpans(), ...keeper.spans()]).toEqual([]);
  },
);

test.each(FROM_THEIR_NUMBERS)(
  '%s, of an earlier release, does not survive that they are mounted',
  async (file) => {
    await expect(replay('histories', file)).rejects.toThrow(/ id of scheduled event .* does not match/);
  },
);

test('a run that began with them goes on without them, with the ids of its caller’s calls', async () => {
  const shape = SHAPES['asks-its-caller-apart'];
  shape?.prepare(stage);
  const plugins = [interceptors(), stage.plugin()];
  const id = await stage.whileWorking(
    async () => {
      const run = await stage.client.start({ ...shape?.request, question: 'Where?' });
      await shape?.meanwhile?.(stage, run, () => undefined);
      expect((await run.result()).status).toBe('completed');
      return run.id;
    },
    { plugins, workflowBundle: { codePath } },
  );
  const history = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  expect(JSON.stringify(history)).toContain('"cdr_');
  await TestWorker.runReplayHistory({ workflowBundle: workflowBundle() }, history, id);
});

test('our spans hang below those of activities, in the trace of the workflow', async () => {
  stage.plan([step('a', 'Find it.')]);
  const plugins = [interceptors(), stage.plugin()];
  const solve = () => stage.client.solve({ question: 'Where?' });
  const { status } = await stage.whileWorking(solve, { plugins, workflowBundle: { codePath } });
  expect(status).toBe('completed');
  const spans = keeper.spans();
  const run = ofWorkflows.getFinishedSpans().find(({ name }) => name.startsWith('RunWorkflow:'));
  const calls = ['plan conductor', 'invoke_agent a'].map((name) => spanNamed(name, spans));
  const activities = spans.filter(({ name }) => /^RunActivity:conductor\.(writePlan|callWorker)$/.test(name));
  expect(calls.map((call) => call?.parentId)).toEqual(activities.map(({ spanId }) => spanId));
  for (const span of [...calls, ...activities]) expect(span?.traceId).toBe(run?.spanContext().traceId);
});
