import { findByPrefix, listRuns } from '../../src/client/list-runs';
import { step, useStage } from '../support/stage';
import { until } from '../support/until';

const stage = useStage({ config: { recursion: 'worker', limits: { depth: 1 } } });

test('a run just started is listed even if the server does not list it yet, and says whether it has a worker', async () => {
  const { client, temporal, taskQueue } = stage;
  const { id } = await client.start({ question: 'Who lists me?' });
  // A server that lists nothing yet.
  const blind = Object.create(temporal.client) as typeof temporal.client;
  const workflow = Object.create(temporal.client.workflow) as typeof temporal.client.workflow;
  Object.assign(workflow, { list: () => [], count: () => Promise.resolve({ count: 0 }) });
  Object.assign(blind, { workflow });
  const read = (run: string): ReturnType<typeof client.trace> => client.trace(run);
  const list = await listRuns(blind, read, { taskQueue, known: [id, 'solve-that-never-was'] });
  expect(list).toMatchObject({
    runs: [{ id, status: 'running', hasWorker: false, question: 'Who lists me?', costUsd: 0, endedAt: null }],
    unlisted: 0,
  });
  expect(await findByPrefix(blind, id.slice(0, 12), [id])).toEqual([id]);
  await temporal.client.workflow.getHandle(id).terminate();
});

test('lists the runs of this task queue: first those that wait for a person, then the last that ended', async () => {
  const { client, temporal, taskQueue } = stage;
  const list = async (ended: number): Promise<string[][]> => {
    const { runs } = await client.list({ taskQueue, ended });
    return runs.map((run) => [run.id, run.status, String(run.waitsFor), String(run.hasWorker)]);
  };
  await stage.whileWorking(async () => {
    stage.plan([step('a', 'Answer.')]);
    const first = await client.solve({ question: 'The first?' });
    stage.plan([step('b', 'Answer.')]);
    const second = await client.solve({ question: 'The second?' });
    stage.plan([step('c', 'Answer.')]);
    const { id } = await client.start({ question: 'May it?', approval: 'plan' });
    for await (const { waitsFor } of client.watch(id)) if (waitsFor !== undefined) break;

    const waiting = [id, 'running', 'approval', 'true'];
    const ended = [second, first].map((run) => [run.id, 'completed', 'null', 'null']);
    const all = await until(
      () => list(10),
      ({ length }) => length === 3,
    );
    expect(all).toEqual([waiting, ...ended]);
    expect(await list(1)).toEqual([waiting, ended[0]]);
    expect(await list(0)).toEqual([waiting]);
    const { runs } = await client.list({ taskQueue });
    expect(runs[1]).toMatchObject({
      costUsd: second.costUsd,
      costIsLowerBound: false,
      question: 'The second?',
    });
    expect((await client.list({ taskQueue: 'another', known: [] })).runs).toEqual([]);
    await temporal.client.workflow.getHandle(id).terminate();
  });
});

test('an id is found by its prefix, among children only if no other run has it', async () => {
  const { client, temporal, taskQueue } = stage;
  const find = (prefix: string): Promise<string[]> => findByPrefix(temporal.client, prefix, []);
  stage.plan([step('conductor', 'Weigh it.')]);
  stage.plan([step('c', 'Compare.')]);
  const release = stage.providers.hold('c');
  await stage.whileWorking(async () => {
    const { id } = await client.start({ question: 'Whose child?' }, `${taskQueue}-root`);
    await stage.providers.waitForRequest(({ model }) => model === 'c');
    expect(await until(() => find(`${id}-r`), hasOne)).toEqual([`${id}-r0s1`]);
    expect(await find(taskQueue)).toEqual([id]);
    expect(await find(id)).toEqual([id]);
    expect(await find(`${id}' OR WorkflowId != '`)).toEqual([]);
    release();
    await temporal.client.workflow.getHandle(id).result();
  });
});

test('the whole id of a run that is gone finds neither its retries nor their children', async () => {
  const { client, temporal, taskQueue } = stage;
  const gone = `${taskQueue}-gone`;
  const { id } = await client.start({ question: 'Whose retry?' }, `${gone}-retry-gbg27d`);
  const find = (prefix: string): Promise<string[]> => findByPrefix(temporal.client, prefix, [id]);
  expect(await find(gone.slice(0, -1))).toEqual([id]);
  expect(await find(gone)).toEqual([]);
  await temporal.client.workflow.getHandle(id).terminate();
});

function hasOne(found: readonly string[]): boolean {
  return found.length === 1;
}
