import { Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { ConductorClient } from '../../src';
import { step, useStage } from '../support/stage';

const stage = useStage();

/** Returns a client as in another process, which knows only the id. */
function stranger(): ConductorClient {
  const { connection, options } = stage.temporal.client;
  const client = new Client({ connection, namespace: options.namespace });
  return new ConductorClient({ client, store: stage.store, taskQueue: stage.taskQueue });
}

test('an id names one run, during and after it, and whoever has the id can wait for its result', async () => {
  const id = `ticket-${stage.taskQueue}`;
  const again = () => stranger().start({ question: 'Once more?' }, id);
  await stage.whileWorking(async () => {
    stage.plan([step('a', 'Say it.')]);
    stage.providers.answer('a', 'Once.');
    const release = stage.providers.hold('a');
    const memo = { for: 'ticket 7', parts: [1, 2] };
    const started = await stage.client.start({ question: 'How often?' }, id, { memo });
    await expect(again()).rejects.toThrow(WorkflowExecutionAlreadyStartedError);

    const attached = await stranger().attach(id);
    expect(attached).toMatchObject({ id, runId: started.runId, memo });
    const waiting = attached.result();
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    release();
    expect(await waiting).toMatchObject({ runId: started.runId, status: 'completed', answer: 'Once.' });

    await expect(again()).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
    const late = await stranger().attach(id);
    expect(late).toMatchObject({ runId: started.runId, memo });
    expect(await late.result()).toEqual(await started.result());
  });
  expect(stage.requestsTo('conductor')).toHaveLength(1);
});

test('a missing memo is empty, a stopped run has a result, and an unknown id has no run', async () => {
  const { id } = await stage.client.start({ question: 'Is it stopped?' });
  await stage.temporal.client.workflow.getHandle(id).terminate();
  const attached = await stranger().attach(id);
  expect(attached.memo).toEqual({});
  expect(await attached.result()).toMatchObject({ id, status: 'failed', answer: null });
  await expect(stranger().attach(`no-${id}`)).rejects.toThrow(WorkflowNotFoundError);
});
