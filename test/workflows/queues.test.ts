import type { WorkflowService } from '@temporalio/client';
import type { ConfigInput } from '../../src';
import { openStage, step, type Stage } from '../support/stage';
import { until } from '../support/until';

type TaskQueueType = Parameters<WorkflowService['describeTaskQueue']>[0]['taskQueueType'];

/** The half of a task queue that holds activities, as the server's API counts. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the enum is in a package of the SDK's own
const ACTIVITIES: TaskQueueType = 2;

/** Worker `a` is asked through OpenAI's API, worker `b` through Anthropic's. */
function twoProviders(config: ConfigInput, url: string): ConfigInput {
  const [a] = config.workers;
  const { apiKeyEnv } = config.conductor as { apiKeyEnv: string };
  const b = { id: 'b', provider: 'anthropic' as const, model: 'b', baseUrl: url, apiKeyEnv };
  const temporal = { ...config.temporal, queuePerProvider: true, callsPerSecond: { anthropic: 50 } };
  return { ...config, workers: a === undefined ? [b] : [a, b], temporal };
}

describe('a task queue for each provider', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ workers: ['a', 'b'], configure: twoProviders });
  });
  afterEach(async () => {
    await stage.close();
  });

  const queueOf = (provider: string): string => `${stage.taskQueue}-${provider}`;

  test('each call goes through the queue of its provider', async () => {
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'One.'), step('b', 'Two.', [0])]);
    const { id } = await stage.whileWorking(() => stage.client.solve({ question: 'Which way?' }));

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

  test("workers on a provider's queue tell the server its rate, and leave with the worker they run beside", async () => {
    const { workflowService } = stage.temporal.client;
    const pollersOf = async (provider: string) => {
      const { pollers } = await workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name: queueOf(provider) },
        taskQueueType: ACTIVITIES,
      });
      return pollers;
    };
    await stage.whileWorking(async () => {
      const [anthropic, openai] = await Promise.all(
        ['anthropic', 'openai'].map((provider) =>
          until(
            () => pollersOf(provider),
            ({ length }) => length > 0,
          ),
        ),
      );
      expect(anthropic?.map(({ ratePerSecond }) => ratePerSecond)).toEqual([50]);
      expect(openai?.[0]?.ratePerSecond).toBeGreaterThan(1000);
    });
  });
});
