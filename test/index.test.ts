import type { WorkerOptions } from '@temporalio/worker';
import * as door from '../src';
import * as evaluationDoor from '../src/evaluation';
import * as nexusDoor from '../src/nexus';
import * as nexusWorkerDoor from '../src/nexus/worker';
import * as testingDoor from '../src/testing';
import * as trainingDoor from '../src/training';

test('each entry point exports what the manual documents, and nothing else', () => {
  expect(Object.keys(door).sort()).toEqual([
    'AlteredPayloadError',
    'BadQuestionError',
    'BadRetryError',
    'ConductorClient',
    'ConductorError',
    'ConductorPlugin',
    'ConfigError',
    'FAILURES',
    'METRIC_BUCKETS',
    'MissingKeyError',
    'PlanError',
    'RefusedError',
    'SearchAttributeError',
    'TextNotFoundError',
    'UnknownKeyError',
    'collectGarbage',
    'defineTool',
    'encryptionCodec',
    'encryptionConverter',
    'failureConverterPath',
    'loadConfig',
    'openStore',
    'parsePlan',
    'planSchema',
    'planWaves',
    'readEncryptionKeys',
    'readText',
    'renderPlan',
    'solveInputSchema',
    'solveResultSchema',
    'solveTraceSchema',
  ]);
  expect(Object.keys(evaluationDoor)).toEqual(['EvaluationPlugin']);
  expect(Object.keys(nexusDoor)).toEqual(['conductorNexusService']);
  expect(Object.keys(nexusWorkerDoor)).toEqual(['ConductorNexusPlugin']);
  expect(Object.keys(trainingDoor).sort()).toEqual([
    'TrainingClient',
    'TrainingPlugin',
    'findSchedule',
    'loadTrainableConfig',
    'removeSchedule',
    'scheduleNights',
  ]);
  expect(Object.keys(testingDoor).sort()).toEqual(['startSimulatedProviders']);
});

describe('a worker', () => {
  const model = { provider: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:9/v1' } as const;
  const config = { conductor: model, workers: [{ id: 'a', ...model }] };
  const store = door.openStore('sqlite:.conductor/store.db', '/nowhere');
  const named = (prefix: string, names: string): string[] => names.split(' ').map((name) => prefix + name);
  const SOLVING = named(
    'conductor.',
    'resolveRun checkRun writePlan callWorker listTools callTool checkAnswer checkArguments bookCall keepText readText',
  );
  const EVALUATING = named('conductor.evaluate.', 'compareAnswers openQuestion gradeAnswers keepResult');
  const registeredBy = (plugin: Pick<door.ConductorPlugin, 'configureWorker'>): string[] =>
    Object.keys(plugin.configureWorker({ taskQueue: 'queue' }).activities ?? {});

  test('that solves registers only the activities of solves; one that evaluates also registers those of evaluations', () => {
    const solving = registeredBy(new door.ConductorPlugin({ config, store }));
    expect(solving.sort()).toEqual([...SOLVING].sort());
    const evaluating = registeredBy(new evaluationDoor.EvaluationPlugin({ config, store }));
    expect(evaluating.sort()).toEqual([...SOLVING, ...EVALUATING].sort());
  });

  test('beats twice within the timeout of a call, unless told otherwise', () => {
    const plugin = new door.ConductorPlugin({ config: { ...config, temporal: { heartbeat: '8s' } }, store });
    const intervalOf = (given: Partial<WorkerOptions>): unknown =>
      plugin.configureWorker({ taskQueue: 'queue', ...given }).maxHeartbeatThrottleInterval;
    expect(intervalOf({})).toBe(4_000);
    expect(intervalOf({ maxHeartbeatThrottleInterval: '1s' })).toBe('1s');
  });

  test('that trains also registers the activities of training', () => {
    const registered = registeredBy(new trainingDoor.TrainingPlugin({ config, store }));
    expect(registered).toEqual(expect.arrayContaining(SOLVING));
    const others = registered.filter((name) => ![...SOLVING, ...EVALUATING].includes(name));
    expect(others).toHaveLength(14);
    for (const name of others) expect(name).toMatch(/^conductor\.train\./);
  });

  test('that only solves refuses to serve a checkpoint, and names the plugin that does', () => {
    const policy = { ...config, conductor: { provider: 'policy' } as const };
    expect(() => new door.ConductorPlugin({ config: policy, store })).toThrow('mount TrainingPlugin');
  });
});

test('a program can render a plan, parse it back, and see which steps run in parallel', () => {
  const workers = ['gpt', 'sonnet'];
  const plan: door.Plan = {
    steps: [
      { worker: 'gpt', subtask: 'Answer.', sees: [] },
      { worker: 'sonnet', subtask: 'Answer.', sees: [] },
      { worker: 'gpt', subtask: 'Merge.', sees: [0, 1] },
    ],
  };

  const read = door.parsePlan(door.renderPlan(plan, workers), { workers, maxSteps: 5, round: 0 });

  expect(door.planSchema.parse(read)).toEqual(plan);
  expect(door.planWaves(read)).toEqual([0, 0, 1]);
});

// Never called, only compiled: the types that authors of a custom worker need must stay exported.
export async function askAgent({ question, sees }: door.WorkerRequest): Promise<door.ExternalAnswer> {
  const store: door.Store = door.openStore('sqlite:.conductor/store.db', process.cwd());
  const texts: door.Text[] = [question, ...sees.map(({ output }) => output)];
  const whole = await Promise.all(texts.map((text) => door.readText(store, text)));
  return { text: whole.join('\n'), usage: { inputTokens: 1, outputTokens: 1 } };
}
