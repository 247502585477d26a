import { findByPrefix, type ListOptions, listRuns } from '../../src/client/list-runs';
import { SOLVE_WORKFLOW } from '../../src/protocol/names';
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
    earlier: null,
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

test('a filter by state, start and words finds runs among all, page by page', async () => {
  const { client, temporal } = stage;
  const { workflow } = temporal.client;
  const taskQueue = `${stage.taskQueue}-filter`;
  const ids: string[] = [];
  for (const [index, word] of ['oldest', 'older', 'old', 'new'].entries()) {
    const workflowId = `${taskQueue}-${index}`;
    const args = [{ question: `Which one is ${word}?` }];
    const handle = await workflow.start(SOLVE_WORKFLOW, { workflowId, taskQueue, args });
    ids.push(workflowId);
    if (word !== 'new') await handle.terminate();
  }
  const list = async (options: ListOptions): Promise<readonly [string[], string | null]> => {
    const { runs, earlier } = await client.list({ taskQueue, ...options });
    return [runs.map(({ id }) => id), earlier];
  };
  const [oldest = '', older = '', old = '', going = ''] = ids;
  // The server lists each start and each end by itself.
  await until(
    () => Promise.all([list({ state: 'running' }), list({ state: 'failed' })]),
    ([[running], [failed]]) => running.length === 1 && failed.length === 3,
  );
  expect(await list({ state: 'running' })).toEqual([[going], null]);
  expect(await list({ state: 'waiting' })).toEqual([[], null]);
  // The server leaves out what is not sought, so that nothing earlier is left to look at.
  expect(await list({ state: 'completed', ended: 2 })).toEqual([[], null]);
  expect(await list({ state: 'failed' })).toEqual([[old, older, oldest], null]);
  const [first, earlier] = await list({ state: 'failed', ended: 2 });
  expect(first).toEqual([old, older]);
  expect(await list({ state: 'failed', endedBefore: earlier ?? '' })).toEqual([[older, oldest], null]);
  // A word is sought beyond the most that are listed, and the search says where it stopped.
  expect(await list({ words: 'IS oldest', ended: 1 })).toEqual([[oldest], null]);
  expect(await list({ words: 'older', ended: 1 })).toEqual([[older], expect.any(String)]);
  expect(await list({ words: 'youngest' })).toEqual([[], null]);
  const { startTime } = await workflow.getHandle(older).describe();
  expect(await list({ startedFrom: startTime.toISOString() })).toEqual([[going, old, older], null]);
  expect(await list({ startedBefore: startTime.toISOString(), ended: 2 })).toEqual([[oldest], null]);
  await workflow.getHandle(going).terminate();
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
    // The server may list a child before its parent, whose prefix then finds the child.
    expect(
      await until(
        () => find(taskQueue),
        (found) => found.includes(id),
      ),
    ).toEqual([id]);
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
