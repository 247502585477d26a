import { Client, Connection } from '@temporalio/client';
import { ConductorClient, RefusedError, type SolveResult } from '../../src';
import { step, useStage } from '../support/stage';

const QUESTION = 'Where does the Danube rise?';

const stage = useStage({ config: { recursion: 'worker', limits: { depth: 1 } } });

/** Starts a run, and waits until its second step's child calls worker `c`; returns what releases that answer. */
async function comeToChild(id: string): Promise<() => void> {
  stage.plan([
    step('a', 'Find the sources.'),
    step('conductor', 'Weigh them.', [0]),
    step('b', 'Say it.', [1]),
  ]);
  stage.plan([step('c', 'Compare.')]);
  stage.providers.answer('b', 'At the Breg.');
  const release = stage.providers.hold('c');
  await stage.client.start({ question: QUESTION }, id);
  await stage.providers.waitForRequest(({ model }) => model === 'c');
  return release;
}

function tasksOf({ rounds }: SolveResult): string[] {
  return rounds.flatMap(({ childId, plan }) =>
    (plan?.steps ?? []).map(({ subtask }) => `${childId ?? 'own'} ${subtask}`),
  );
}

test('watch shows a child under way below its step, and ends with what trace returns', async () => {
  const id = `solve-${stage.taskQueue}`;
  const own = ['own Find the sources.', 'own Weigh them.', 'own Say it.'];
  const whole = [...own, `${id}-r0s2 Compare.`];
  await stage.whileWorking(async () => {
    const release = await comeToChild(id);
    const seen: SolveResult[] = [];
    for await (const trace of stage.client.watch(id)) {
      const isFirstLook = !seen.some((earlier) => tasksOf(earlier).length === whole.length);
      if (isFirstLook && tasksOf(trace).length === whole.length) release();
      seen.push(trace);
    }
    const atWork = seen.find((trace) => tasksOf(trace).length === whole.length);
    expect(atWork).toMatchObject({ status: 'running', answer: null });
    expect(atWork && tasksOf(atWork)).toEqual(whole);
    expect(seen.at(-1)).toMatchObject({ status: 'completed', answer: 'At the Breg.' });
    expect(seen.at(-1)).toEqual(await stage.client.trace(id));
  });
});

test('a history that is too large for one response is read in smaller pages', async () => {
  const { id } = await stage.client.start({ question: QUESTION });
  const handle = stage.temporal.client.workflow.getHandle(id);
  const long = 'x'.repeat(1_900_000);
  for (const signal of ['one', 'two', 'three']) await handle.signal(signal, long);
  await stage.client.addHint(id, 'Look at a map.');
  const connection = await Connection.connect({ address: stage.temporal.address });
  try {
    const reader = new ConductorClient({ client: new Client({ connection }), store: stage.store });
    expect(await reader.trace(id)).toMatchObject({ id, question: QUESTION, status: 'running' });
  } finally {
    await connection.close();
    await stage.client.cancel(id);
  }
});

test('without a worker, a child can still be read', async () => {
  const id = `solve-${stage.taskQueue}`;
  await stage.whileWorking(() => comeToChild(id), { shutdownGraceTime: 0, shutdownForceTime: '5s' });
  const trace = await stage.client.trace(id);
  expect(tasksOf(trace)).toContain(`${id}-r0s2 Compare.`);
  expect(trace.rounds[1]).toMatchObject({ depth: 1, childId: `${id}-r0s2`, decision: null });
  await stage.temporal.client.workflow.getHandle(id).terminate();
});

test('limits can be read and changed, and a run explains in its own words what it refuses', async () => {
  const id = `solve-${stage.taskQueue}`;
  await stage.whileWorking(async () => {
    const release = await comeToChild(id);
    const { client } = stage;
    const held = await client.setLimits(id, {});
    expect(held).toMatchObject({ calls: 40, depth: 1, costUsd: null });
    const change = { steps: 3, calls: 60, wallClockMs: 60 * 60_000 };
    const changed = { ...held, ...change, remainingMs: expect.any(Number) as number };
    expect(await client.setLimits(id, change)).toEqual(changed);
    const refused = client.setLimits(id, { calls: 0 });
    await expect(refused).rejects.toThrow(
      /^calls in the input of setLimits is 0: it must be a whole number from 1 to 200$/,
    );
    await expect(refused).rejects.toThrow(RefusedError);
    expect(await client.setLimits(id, {})).toEqual(changed);
    await expect(client.approvePlan(id)).rejects.toThrow(/^this run has no plan waiting for approval/);
    await expect(client.setMaxDepth(id, -1)).rejects.toThrow('the depth is -1');
    await expect(client.addHint(id, ' ')).rejects.toThrow('the hint has 1 bytes');
    await client.setMaxDepth(id, 0);
    await client.addHint(id, 'Mind the map.');
    release();
    await client.solve({ question: 'And the Rhine?' });
    for await (const trace of client.watch(id)) if (trace.status !== 'running') break;
    for (const late of [client.addHint(id, 'Too late.'), client.setLimits(id, { calls: 30 })]) {
      await expect(late).rejects.toThrow(`run ${id} has ended already: completed`);
    }
    await expect(client.addHint('solve-none', 'Hello?')).rejects.not.toThrow(RefusedError);
  });
});

test('a run can continue from a step: earlier outputs are kept, the rest is bought again', async () => {
  await stage.whileWorking(async () => {
    stage.plan([step('a', 'Find the sources.'), step('b', 'Weigh them.', [0])]);
    stage.providers.answer('a', 'Breg and Brigach');
    stage.providers.answer('b', 'Perhaps.');
    stage.providers.answer('c', 'At the Breg.');
    const first = await stage.client.solve({ question: QUESTION });
    const again = await stage.client.retry(first.id, { from: 1, worker: 'c', subtask: 'Weigh them well.' });
    expect(again.id).toMatch(new RegExp(`^${first.id}-retry-[0-9a-z]{6}$`));
    let last: SolveResult | undefined;
    for await (const trace of stage.client.watch(again.id)) last = trace;
    expect(last).toMatchObject({ status: 'completed', question: QUESTION, answer: 'At the Breg.' });
    // The plan is given, so only the step that is left may cost anything.
    expect(last).toMatchObject({ estimate: { calls: 1 }, rounds: [{ isGiven: true }] });
    expect(last?.rounds[0]?.steps[0]).toMatchObject({ output: 'Breg and Brigach', startedAt: null });
    const asked = stage.providers.log.map(({ model }) => model);
    expect(asked).toEqual(['conductor', 'a', 'b', 'c']);
    await expect(stage.client.retry(first.id, { from: 2 })).rejects.toThrow('name one from 1 to 2');
  });
});
