import { hash, randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import {
  type Collected,
  collectGarbage,
  type CollectOptions,
  readText,
  type SolveResult,
  type Store,
} from '../../src';
import { unlessNotFound } from '../../src/client';
import type { TemporalServer } from '../../src/local/configured-server';
import { embeddedServer } from '../../src/local/embedded-server';
import { noteAskedRun } from '../../src/store/asked-runs';
import { keepAnswer, keepBegun, rowKeys, writeRow } from '../../src/store/ledger';
import { LiveReader, LiveWriter } from '../../src/store/stream-log';
import { ToolCallRecord } from '../../src/store/tool-calls';
import { keepText } from '../../src/store/texts';
import { type Folder, makeFolder } from '../cli/folder';
import { veil } from '../plugin/veil';
import { openStage, type Stage, step } from '../support/stage';
import { STORES } from '../support/stores';
import { until } from '../support/until';
import { useOnce } from '../support/use';
import { aRow } from '../support/ledger-of';

/** Waits until Temporal's visibility, which lags behind a start, lists the run. */
async function untilListed({ temporal }: Stage, id: string): Promise<void> {
  await until(
    () => temporal.client.workflow.count(`WorkflowId = '${id}'`),
    ({ count }) => count === 1,
  );
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns a distinct text that is long enough for the store. */
const longText = (about: string): string => `${about} `.repeat(1000);

const removedOf = ({ texts, answers }: Collected): number[] => [texts.removed.count, answers.removed.count];
const liveOf = ({ texts, answers }: Collected): number[] => [texts.live.count, answers.live.count];

/** A server of this file's own, because a collection would also read the runs of other tests on the shared one. */
let server: TemporalServer;
let home: Folder;
beforeAll(async () => {
  home = await makeFolder();
  server = await embeddedServer({ folder: home.path, say: () => undefined });
});
afterAll(async () => {
  await server.stop();
  await home.remove();
});

describe.each(STORES)('garbage of a store of kind %s', (_, startStores) => {
  const stores = useOnce(startStores);
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ workers: ['a', 'b'], store: await stores.open(), address: server.address });
  });
  afterEach(async () => {
    const { workflow } = stage.temporal.client;
    for await (const { workflowId, status } of workflow.list()) {
      // The server still lists some as running that have ended.
      if (status.name === 'RUNNING') await unlessNotFound(workflow.getHandle(workflowId).terminate());
    }
    await stage.close();
  });

  const collect = (options: Partial<CollectOptions> = {}): Promise<Collected> =>
    collectGarbage({ client: stage.temporal.client, store: stage.store, olderThanMs: DAY_MS, ...options });

  /** Runs a solve whose caller gives a long result, and returns its id and that of the call. */
  async function solveByCaller(on: Stage): Promise<{ readonly root: string; readonly call: string }> {
    on.plan([step('a', 'Read it.')]);
    on.providers.script('a', [{ text: '', calls: [{ name: 'read', input: {} }] }]);
    const tools = [{ name: 'read', parameters: { type: 'object' } }];
    return on.whileWorking(async () => {
      const { id: root, result } = await on.client.start({
        question: 'What does it say?',
        tools,
        live: true,
      });
      for await (const event of on.client.stream(root)) {
        if (event.kind !== 'callsWaiting') continue;
        const [{ id: call } = { id: '' }] = event.calls;
        await on.client.submit([{ call, output: longText(root) }]);
        await result();
        return { root, call };
      }
      throw new Error(`run ${root} ended without a call`);
    });
  }

  /** Runs a solve with a long question, a long output that another step sees, and a short answer. */
  async function solveAbout(topic: string, on = stage): Promise<SolveResult> {
    const question = longText(`question about ${topic}`);
    on.plan([step('a', 'Say much.'), step('b', 'Sum it up.', [0])]);
    on.providers.script('a', [longText(`output about ${topic}`)]);
    return on.whileWorking(() => on.client.solve({ question }));
  }

  test('what a run refers to is kept while the server has the run, and then removed, except for the ledger', async () => {
    // Stands for a run that the server has forgotten, which takes half a minute: this one is on another server.
    const elsewhere = await openStage({ workers: ['a', 'b'], store: stage.store });
    const gone = await solveAbout('ants', elsewhere);
    await elsewhere.close();
    const held = await solveAbout('bees');
    await untilListed(stage, held.id);
    for (const { id, runId } of [held, gone]) {
      const note = { state: 'whole', gateway: 'one', sending: 'one' } as const;
      await noteAskedRun(stage.store, 'asked', id, note);
      await keepBegunFor(stage.store, runId);
      await keepToolCall(stage.store, runId);
    }
    expect(removedOf(await collect())).toEqual([0, 0]);
    await stores.age(48);

    const foretold = await collect({ dryRun: true });
    const collected = await collect();
    expect(foretold).toEqual(collected);
    // Texts per run: question, output and a tool's result. Answers per run: three of models, one begun, one of a tool, and
    // a note on its request.
    expect(removedOf(collected)).toEqual([3, 6]);
    expect(liveOf(collected)).toEqual([3, 6]);
    expect(collected.texts.removed.bytes).toBeGreaterThanOrEqual(38_000);
    expect(await stage.client.trace(held.id)).toEqual(held);
    expect(await rowKeys(stage.store, gone.runId)).toHaveLength(3);
    expect(removedOf(await collect())).toEqual([0, 0]);
  });

  test('what a caller was told and gave is kept while the server has its run, and then removed', async () => {
    const elsewhere = await openStage({ workers: ['a', 'b'], store: stage.store });
    const gone = await solveByCaller(elsewhere);
    const held = await solveByCaller(stage);
    await untilListed(stage, held.root);
    await stores.age(48);
    await collect();
    const [told, other] = await Promise.all([held, gone].map(({ call }) => stage.client.findCall(call)));
    expect(told).toMatchObject({ root: held.root, name: 'read', result: { output: longText(held.root) } });
    expect(other).toBeNull();
    const result = { call: held.call, output: longText(held.root) };
    await expect(stage.client.submit([result])).resolves.toBeUndefined();
    const keys = await stage.store.list('caller-calls/');
    expect(keys.filter((key) => key.includes(gone.call))).toEqual([]);
    const texts = await Promise.all((await stage.store.list('texts/')).map((key) => stage.store.read(key)));
    expect(texts.some((bytes) => bytes?.toString('utf8').includes(gone.root))).toBe(false);
    await elsewhere.close();
  });

  test('young objects are kept, whether or not anything refers to them', async () => {
    await keepText(stage.store, longText('nobody asked'));
    expect(removedOf(await collect())).toEqual([0, 0]);
    await stores.age(25);
    expect(removedOf(await collect({ olderThanMs: 2 * DAY_MS }))).toEqual([0, 0]);
    expect(removedOf(await collect())).toEqual([1, 0]);
  });

  test('a run that waits for a worker finds its question, however long it has waited', async () => {
    const question = longText('patience');
    const { id } = await stage.client.start({ question });
    await untilListed(stage, id);
    await stores.age(48);
    expect(liveOf(await collect())).toEqual([1, 0]);
    stage.plan([step('a', 'Answer.')]);
    await stage.whileWorking(() => stage.temporal.client.workflow.getHandle(id).result());
    expect(await stage.client.trace(id)).toMatchObject({ status: 'completed', question });
  });

  test('an answer that was kept but not yet reported stays, with its text', async () => {
    const { id, runId } = await stage.client.start({ question: 'Who tells of it?' });
    await untilListed(stage, id);
    const output = await keepText(stage.store, longText('kept, and then the worker was killed'));
    const row = { ...aRow({ runId }), endedAt: '2026-01-01T12:00:01.000Z' };
    await writeRow(stage.store, { ...row, endedAt: null });
    await keepAnswer(stage.store, { output, dropped: [], row });
    await stores.age(48);
    expect(liveOf(await collect())).toEqual([1, 1]);
  });

  test('the log of a run is kept while the server has the run', async () => {
    const { store, client } = stage;
    // A bucket has no log.
    if (store.append === undefined) return;
    const { id } = await client.start({ question: 'Who is told of it?' });
    await untilListed(stage, id);
    const piece = {
      workflowId: id,
      round: 0,
      step: 0,
      callId: 'c'.repeat(64),
      attempt: 1,
      offset: 0,
      text: 'Eight',
    };
    const startedAt = '2026-01-01T12:00:00.000Z';
    await new LiveWriter(store).write([id, 'gone'].map((rootId) => ({ ...piece, rootId, startedAt })));
    await stores.age(48);
    // The batch of `gone`, and the name of its writer.
    expect(removedOf(await collect())).toEqual([2, 0]);
    expect((await new LiveReader(store, id).read().next()).value).toHaveLength(1);
    expect((await new LiveReader(store, 'gone').read().next()).done).toBe(true);
  });

  test("what another workflow's run holds is kept as well", async () => {
    const text = await keepText(stage.store, longText('handed on'));
    const workflowId = randomUUID();
    await stage.temporal.client.workflow.start('somebodyElses', {
      workflowId,
      taskQueue: stage.taskQueue,
      args: [{ results: [{ text, note: JSON.stringify(text) }] }],
    });
    await untilListed(stage, workflowId);
    await stores.age(48);
    expect(liveOf(await collect())).toEqual([1, 0]);
  });

  test('an old text that is kept again during a collection stays', async () => {
    const text = longText('said twice');
    await keepText(stage.store, text);
    await stores.age(48);
    const store = interrupt(stage.store, () => keepText(stage.store, text));
    expect(removedOf(await collect({ store }))).toEqual([0, 0]);
    expect(await readText(stage.store, await keepText(stage.store, text))).toBe(text);
    expect(await stage.store.list('texts/')).toHaveLength(1);
  });

  test('objects that are not ours are kept', async () => {
    const keys = ['texts/notes.txt', 'answers/mine', 'elsewhere/old.json'];
    for (const key of keys) await stage.store.write(key, Buffer.from('not of a solve'));
    await stores.age(48);
    expect(removedOf(await collect())).toEqual([0, 0]);
    for (const key of keys) expect(await stage.store.read(key)).not.toBeNull();
  });
});

describe('nothing is removed', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ address: server.address });
  });
  afterEach(() => stage.close());

  test('if a history of ours cannot be read', async () => {
    const { client } = stage.temporal;
    const veiled = new Client({ connection: client.connection, dataConverter: { payloadCodecs: [veil] } });
    const options = { taskQueue: stage.taskQueue, args: [{ question: 'Who can read this?' }] };
    const run = await veiled.workflow.start('conductorSolve', { ...options, workflowId: 'veiled' });
    await untilListed(stage, 'veiled');
    await expect(collectGarbage({ client, store: stage.store, olderThanMs: DAY_MS })).rejects.toThrow(
      /^the history of run veiled cannot be read \(.*\), so it is unknown which texts it needs, and nothing was removed/,
    );
    await run.terminate();
  });

  test.each([0, DAY_MS - 1, NaN])('that is only %d ms old', async (olderThanMs) => {
    const { client } = stage.temporal;
    await expect(collectGarbage({ client, store: stage.store, olderThanMs })).rejects.toThrow(
      /^only what is older than a day can be collected/,
    );
  });
});

/** Keeps the id of an answer begun at the vendor for one of a run's calls. */
async function keepBegunFor(store: Store, runId: string): Promise<void> {
  const [key = ''] = await rowKeys(store, runId);
  await keepBegun(store, { callId: key.split('/')[2] ?? '', attempt: 1, id: 'resp_1', begunAt: 0 });
}

/** Keeps the result of a tool that was called in a run, as it is kept before the run hears of it. */
async function keepToolCall(store: Store, runId: string): Promise<void> {
  const record = new ToolCallRecord(store, runId, hash('sha256', runId));
  await record.begin();
  await record.answer({ outcome: 'ok', output: await keepText(store, longText(`result for ${runId}`)) });
}

/** Wraps a store so that something happens right after a collection has found what is old. */
function interrupt(store: Store, happens: () => Promise<unknown>): Store {
  const removeOlder: Store['removeOlder'] = async (key, than) => {
    await happens();
    return store.removeOlder(key, than);
  };
  return Object.assign(Object.create(store) as Store, { removeOlder });
}
