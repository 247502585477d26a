import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { nightWorkflowId, RETIRE, UPDATE } from '../../../src/training/names';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { until } from '../../support/until';

jest.setTimeout(300_000);

const DATE = '2026-01-10';

let stage: ScriptedTraining;
afterEach(() => stage.close());

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

async function eventsOf(workflowId = nightWorkflowId(stage.trainRun)): Promise<Events> {
  const { events } = await stage.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return events ?? [];
}

/** Returns the workflow ids of the night's groups that have started. */
async function groups(): Promise<string[]> {
  const events = await eventsOf();
  return events.flatMap(
    ({ childWorkflowExecutionStartedEventAttributes: child }) => child?.workflowExecution?.workflowId ?? [],
  );
}

/** Returns the types of the night's activities that were scheduled and have not ended. */
async function openActivities(): Promise<string[]> {
  const events = await eventsOf();
  const closed = events.map(
    (event) =>
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskCanceledEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes,
  );
  const ended = new Set(closed.map((attributes) => String(attributes?.scheduledEventId)));
  return events
    .filter(({ eventId }) => !ended.has(String(eventId)))
    .flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
}

/** Whether a group of the night was cancelled or terminated, and the night has completed a task since. */
function hasHeardOfTrial(events: Events): boolean {
  const end = events.findIndex(
    (event) =>
      event.childWorkflowExecutionCanceledEventAttributes ??
      event.childWorkflowExecutionTerminatedEventAttributes,
  );
  return end >= 0 && events.slice(end).some((event) => event.workflowTaskCompletedEventAttributes);
}

test('messages to a night that is being cancelled do not end it before its calls are closed', async () => {
  // A call learns of its cancellation by a heartbeat; this long one leaves time for messages first.
  stage = await openScriptedTraining({ heartbeat: '20s' });
  const { training, trainRun, providers } = stage;
  providers.hold('a');
  await stage.whileWorking(async () => {
    await training.start({ trainRun, date: DATE });
    const { sequence } = await providers.waitForRequest(({ model }) => model === 'a');
    const [group = ''] = await groups();
    await training.cancel(trainRun);
    await until(
      () => eventsOf(group),
      (events) => events.some((event) => event.workflowExecutionCancelRequestedEventAttributes),
    );
    await training.pause(trainRun);
    await training.setBudget(trainRun, { costUsd: 1, hours: 1 });
    await training.resume(trainRun);
    await training.stop(trainRun);
    const { workflow } = stage.temporal.client;
    const end = stage
      .result()
      .catch((error: unknown) => error)
      .then(async (error) => ({ error, group: await workflow.getHandle(group).describe() }));
    await providers.waitForClose(sequence);
    const ended = await end;
    expect(ended.error).toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(ended.group.status.name).not.toBe('RUNNING');
  });
});

test.each([
  ['is cancelled', () => stage.training.cancel(stage.trainRun)],
  [
    'loses a group',
    async () => {
      const [, group = ''] = await groups();
      await stage.temporal.client.workflow.getHandle(group).terminate();
    },
  ],
])('a night that %s while old checkpoints are being retired waits for that', async (_, end) => {
  stage = await openScriptedTraining({ heartbeat: '2s', training: { evaluateEvery: 1 } });
  const { training, trainRun, providers, trainer } = stage;
  const update = trainer[UPDATE];
  trainer[UPDATE] = (request) => {
    // Keeps the trial that follows under way until the test ends it.
    providers.hold('a');
    return update(request);
  };
  trainer[RETIRE] = async () => {
    const beat = setInterval(() => {
      Context.current().heartbeat();
    }, 100);
    // Waits until the night has processed the end of its trial on held-out questions.
    await until(() => eventsOf(), hasHeardOfTrial);
    clearInterval(beat);
    return { retired: [] };
  };
  await stage.whileWorking(async () => {
    await training.start({ trainRun, date: DATE });
    const ended = stage.result();
    // Racing against the night's end shows the reason if it fails early.
    await Promise.race([ended, until(groups, ({ length }) => length > 1)]);
    await Promise.race([ended, until(openActivities, (open) => open.includes(RETIRE))]);
    await end();
    await expect(ended).rejects.toThrow();
    expect(await openActivities()).toEqual([]);
  });
});
