import type { WorkflowService } from '@temporalio/client';
import { type ConfigInput, renderPlan } from '../../src';
import { resolveBaselines } from '../../src/config/cards';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { step, useStage } from './stage';
import { until } from '../support/until';

type TaskQueueType = Parameters<WorkflowService['describeTaskQueue']>[0]['taskQueueType'];

/** Number of `TASK_QUEUE_TYPE_ACTIVITY` in the server's API. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the enum is in a package of the SDK's own
const ACTIVITIES: TaskQueueType = 2;

/** Configures worker `a` with OpenAI's API, and worker `b` with Anthropic's. */
function twoProviders(config: ConfigInput, url: string): ConfigInput {
  const [a] = config.workers;
  const { apiKeyEnv } = config.conductor as { apiKeyEnv: string };
  const b = { id: 'b', provider: 'anthropic' as const, model: 'b', baseUrl: url, apiKeyEnv };
  const temporal = { ...config.temporal, queuePerProvider: true, callsPerSecond: { anthropic: 50 } };
  return { ...config, workers: a === undefined ? [b] : [a, b], temporal };
}

describe('a task queue per provider', () => {
  const stage = useStage({ workers: ['a', 'b'], configure: twoProviders });

  const queueOf = (provider: string): string => `${stage.taskQueue}-${provider}`;

  test('each call goes through the queue of its provider', async () => {
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'One.'), step('b', 'Two.', [0])]);
    const { id } = await stage.solve({ question: 'Which way?' });

    const { events } = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
    const calls = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled ? [[scheduled.activityType?.name, scheduled.taskQueue?.name]] : [],
    );
    expect(calls).toEqual([
      ['conductor.writePlan', queueOf('openai')],
      ['conductor.writePlan', queueOf('openai')],
      ['conductor.callWorker', queueOf('openai')],
      ['conductor.callWorker', queueOf('anthropic')],
    ]);
  });

  test("workers on a provider's queue tell the server its rate", async () => {
    const { workflowService } = stage.temporal.client;
    const pollersOf = async (provider: string) => {
      const { pollers } = await workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name: queueOf(provider) },
        taskQueueType: ACTIVITIES,
      });
      return pollers;
    };
    const isSome = ({ length }: object[]): boolean => length > 0;
    await stage.whileWorking(async () => {
      const anthropic = await until(() => pollersOf('anthropic'), isSome);
      const openai = await until(() => pollersOf('openai'), isSome);
      expect(anthropic.map(({ ratePerSecond }) => ratePerSecond)).toEqual([50]);
      expect(openai[0]?.ratePerSecond).toBeGreaterThan(1000);
    });
  });
});

describe('the queue of a provider that only evaluations use', () => {
  const stage = useStage({
    workers: ['a'],
    configure: (config, url) => {
      const { apiKeyEnv } = config.conductor as { apiKeyEnv: string };
      const other = { provider: 'anthropic' as const, baseUrl: url, apiKeyEnv };
      return {
        ...config,
        conductors: { next: { ...other, model: 'next' } },
        baselines: [{ ...other, id: 'giant', model: 'giant' }],
        temporal: { ...config.temporal, queuePerProvider: true },
      };
    },
  });

  test('is polled, and can be named by a given run', async () => {
    const config = parseConfig(stage.config);
    const run = resolveRun(config);
    const { conductor } = resolveRun(config, { conductor: { name: 'next' } });
    stage.providers.answer('next', renderPlan({ steps: [step('a', 'Answer it.')] }, ['a']));
    const planned = await stage.solve({ question: 'Which way?', run: { ...run, conductor } });
    expect(planned).toMatchObject({ status: 'completed', degraded: false });
    expect(stage.requestsTo('next')).toHaveLength(1);
    const given = { plan: { steps: [step('giant', 'Answer it.')] }, outputs: [null] };
    const workers = resolveBaselines(config);
    const alone = await stage.solve({ question: 'Which way?', given, run: { ...run, workers } });
    expect(alone).toMatchObject({ status: 'completed', degraded: false });
    expect(stage.requestsTo('giant')).toHaveLength(1);
  });
});

describe('the priority of a run', () => {
  const stage = useStage({ workers: ['a'] });

  /** Returns the priority and fairness keys that a run was started with. */
  const keysOf = async (id: string): Promise<unknown> => {
    const { raw } = await stage.temporal.client.workflow.getHandle(id).describe();
    const { priorityKey, fairnessKey } = raw.workflowExecutionInfo?.priority ?? {};
    return { priorityKey, fairnessKey };
  };

  test('is passed on to Temporal, with a fairness key only if a tenant is named', async () => {
    const question = 'How soon?';
    const runs = await Promise.all([
      stage.client.start({ question, priority: 2 }),
      stage.client.start({ question, priority: 5, tenant: 'night' }),
      stage.client.start({ question }),
    ]);
    expect(await Promise.all(runs.map(({ id }) => keysOf(id)))).toEqual([
      { priorityKey: 2, fairnessKey: '' },
      { priorityKey: 5, fairnessKey: 'night' },
      { priorityKey: undefined, fairnessKey: undefined },
    ]);
    await Promise.all(runs.map(({ id }) => stage.temporal.client.workflow.getHandle(id).terminate()));
  });

  test('lets an interactive call overtake a nightly backlog that was queued before it', async () => {
    const goOn = stage.providers.hold('conductor');
    for (let run = 0; run < 5; run += 1) stage.plan([step('a', 'Answer.')]);
    /** Returns how many calls are in the queue itself; a call is in its run's history earlier. */
    const waiting = async (): Promise<number> => {
      const { stats } = await stage.temporal.client.workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name: stage.taskQueue },
        taskQueueType: ACTIVITIES,
        reportStats: true,
      });
      return Number(stats?.approximateBacklogCount ?? 0);
    };
    await stage.whileWorking(
      async () => {
        const start = (question: string, priority: number) => stage.client.start({ question, priority });
        const runs = [await start('nightly 0', 5)];
        await stage.providers.waitForRequest(({ model }) => model === 'conductor');
        for (const question of ['nightly 1', 'nightly 2', 'nightly 3']) runs.push(await start(question, 5));
        await until(waiting, (count) => count === 3);
        runs.push(await start('interactive', 1));
        await until(waiting, (count) => count === 4);
        goOn();
        for (const { id } of runs) await stage.temporal.client.workflow.getHandle(id).result();
      },
      { maxConcurrentActivityTaskExecutions: 1 },
    );

    const asked = stage.requestsTo('conductor');
    const questions = asked.map(({ body }) => /nightly \d|interactive/.exec(body)?.[0]);
    expect(questions).toHaveLength(5);
    expect(questions.slice(0, 2)).toEqual(['nightly 0', 'interactive']);
  });
});
