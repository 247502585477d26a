import {
  type ActivityInterceptorsFactory,
  Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker';
import type { ConfigInput } from '../../src';
import { CALL_WORKER } from '../../src/protocol/names';
import { openStage, type Stage, step } from '../support/stage';
import { testTaskQueue, workflowBundle } from '../support/temporal';

let stage: Stage;
afterEach(() => stage.close());

const queuePerProvider = (config: ConfigInput): ConfigInput => ({
  ...config,
  temporal: { ...config.temporal, queuePerProvider: true },
});

function create(options: Partial<WorkerOptions>): Promise<Worker> {
  const { temporal, taskQueue } = stage;
  const connection = temporal.nativeConnection;
  return Worker.create({ connection, taskQueue, workflowBundle: workflowBundle(), ...options });
}

describe('a worker accepts only one of our plugins', () => {
  const REFUSAL = `a worker takes one plugin of temporal-conductor, and ${CALL_WORKER} is registered on this one already`;

  test('a second one is refused', async () => {
    stage = await openStage({ workers: ['a'] });
    await expect(create({ plugins: [stage.plugin(), stage.plugin()] })).rejects.toThrow(REFUSAL);
  });

  test("a plugin is refused if one of the worker's own activities has such a name", async () => {
    stage = await openStage({ workers: ['a'] });
    const activities = { [CALL_WORKER]: () => Promise.resolve() };
    await expect(create({ activities, plugins: [stage.plugin()] })).rejects.toThrow(REFUSAL);
  });

  test('one plugin can be mounted on several workers', async () => {
    stage = await openStage({ workers: ['a'] });
    const plugin = stage.plugin();
    const workers = [await create({ plugins: [plugin] })];
    workers.push(await create({ plugins: [plugin], taskQueue: testTaskQueue() }));
    for (const worker of workers) await worker.runUntil(Promise.resolve());
  });
});

test('additional workers poll the namespace of their main worker, even if mounting in another one failed', async () => {
  stage = await openStage({ workers: ['a'], configure: queuePerProvider });
  const plugin = stage.plugin();
  const worker = await create({ plugins: [plugin] });
  // The server refuses this worker after the plugin was mounted.
  await expect(create({ plugins: [plugin], namespace: 'elsewhere' })).rejects.toThrow('elsewhere');
  stage.plan([step('a', 'One.')]);
  const { status } = await worker.runUntil(() => stage.client.solve({ question: 'Where?' }));
  expect(status).toBe('completed');
});

/** A user's own plugin, which records how it is used. */
class UsersPlugin implements WorkerPlugin {
  /** Types of the intercepted activities, with the workers' task queues. */
  readonly passed: string[] = [];
  /** Workers that the plugin ran. */
  readonly ran: Worker[] = [];

  constructor(readonly name: string) {}

  configureWorker(options: WorkerOptions): WorkerOptions {
    const { activity = [], ...interceptors } = options.interceptors ?? {};
    const note: ActivityInterceptorsFactory = ({ info }) => ({
      inbound: {
        execute: (input, next) => {
          this.passed.push(`${info.taskQueue} ${info.activityType}`);
          return next(input);
        },
      },
    });
    const sink = { note: { fn: (): void => undefined } };
    return {
      ...options,
      sinks: { ...options.sinks, [this.name]: sink },
      interceptors: { ...interceptors, activity: [...activity, note] },
    };
  }

  runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    this.ran.push(worker);
    return next(worker);
  }
}

test('additional workers have the sinks, interceptors and other plugins of their main worker, each once', async () => {
  stage = await openStage({ workers: ['a'], configure: queuePerProvider });
  const [before, after] = [new UsersPlugin('before'), new UsersPlugin('after')];
  const worker = await create({ plugins: [before, stage.plugin(), after] });
  stage.plan([step('a', 'One.')]);
  await worker.runUntil(() => stage.client.solve({ question: 'Through what?' }));

  const beside = `${stage.taskQueue}-openai`;
  for (const { passed, ran } of [before, after]) {
    const calls = passed.filter((line) => line.startsWith(beside));
    expect(calls).toEqual([`${beside} conductor.writePlan`, `${beside} conductor.callWorker`]);
    expect(ran.map(({ options }) => options.taskQueue).sort()).toEqual([stage.taskQueue, beside]);
    for (const { options } of ran) expect(Object.keys(options.sinks ?? {})).toContain('before');
    for (const { options } of ran) expect(Object.keys(options.sinks ?? {})).toContain('after');
  }
});
