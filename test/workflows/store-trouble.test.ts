import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConductorClient, ConductorPlugin } from '../../src';
import { SqliteStore } from '../../src/store/sqlite-store';
import { renderTree } from '../../src/trace/tree';
import { freshFolder } from '../local/fresh-folder';
import { openStage, type Stage, step } from './stage';
import { untilTrace } from '../support/until';

/** Takes no answer of a model while it is full. */
class FullStore extends SqliteStore {
  isFull = true;

  override createWith(...entries: Parameters<SqliteStore['createWith']>): Promise<boolean> {
    const [key, bytes] = entries;
    const isRefused =
      this.isFull && key.startsWith('answers/') && Buffer.from(bytes).includes('"worker":"a"');
    return isRefused ? Promise.reject(new Error('no space left on device')) : super.createWith(...entries);
  }
}

/** Names no id while it is away. */
class NamelessStore extends SqliteStore {
  isAway = true;

  override id(how: 'read' | 'make'): Promise<string | null> {
    return this.isAway ? Promise.reject(new Error('the store is away')) : super.id(how);
  }
}

let stage: Stage;
afterEach(() => stage.close());

const config = { temporal: { heartbeat: '2s' } };

async function startRun(): Promise<string> {
  stage.plan([step('a', 'Answer.')]);
  return (await stage.client.start({ question: 'Who keeps it?' })).id;
}

test('a run whose paid answer the store does not take waits for the store, and says why, wherever it is shown', async () => {
  const store = new FullStore(join(await freshFolder(), 'store.db'));
  stage = await openStage({ store, config });
  const ended = await stage.whileWorking(async () => {
    const id = await startRun();
    const trace = await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'store');
    expect(trace.waitReason).toBe('no space left on device');
    expect(renderTree(trace)).toMatch(/running · waits for store[^]*because no space left on device/);
    const { runs } = await stage.client.list({ taskQueue: stage.taskQueue, known: [id] });
    expect(runs).toMatchObject([{ id, waitsFor: 'store', problems: ['no space left on device'] }]);
    expect(await stage.client.retries(id)).toEqual([
      { attempt: 1, reason: 'no space left on device', waitsFor: 'store' },
    ]);
    store.isFull = false;
    return untilTrace(stage, id, ({ status }) => status !== 'running');
  });
  expect(ended).toMatchObject({
    status: 'completed',
    calls: [{ worker: 'conductor' }, { attempt: 1, worker: 'a' }],
  });
  expect(ended).not.toHaveProperty('waitReason');
});

test('a run goes on with the store in which it began: workers and clients with another one refuse it', async () => {
  stage = await openStage({ config });
  const { client, temporal, taskQueue } = stage;
  const elsewhere = new SqliteStore(join(stage.folder, 'other.db'));
  stage.plan([step('a', 'Answer.')]);
  const id = await stage.whileWorking(async () => {
    const started = await client.start({ question: 'Who keeps it?', approval: 'plan' });
    await untilTrace(stage, started.id, ({ waitsFor }) => waitsFor === 'approval');
    return started.id;
  });
  const strange = [new ConductorPlugin({ config: stage.config, store: elsewhere })];
  const [own, other] = [await stage.store.id?.('read'), await elsewhere.id('make')];
  const sentence = (who: string): string =>
    `the store of this ${who}, ${elsewhere.url} (id ${other}), is not the one with id ${own}, in which the run began`;
  await stage.whileWorking(
    async () => {
      await client.approvePlan(id);
      const { waitReason } = await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'store');
      expect(waitReason).toContain(sentence('worker'));
    },
    { plugins: strange },
  );
  expect(stage.requestsTo('a')).toEqual([]);
  const ended = await stage.whileWorking(() => untilTrace(stage, id, ({ status }) => status !== 'running'));
  expect(ended).toMatchObject({ status: 'completed', calls: [{ worker: 'conductor' }, { worker: 'a' }] });

  const fresh = new SqliteStore(join(stage.folder, 'fresh.db'));
  const newcomer = new ConductorClient({ client: temporal.client, store: fresh, taskQueue });
  await expect(newcomer.trace(id)).rejects.toThrow(
    `${fresh.url} (which has no id yet), is not the one with id ${own}`,
  );
  expect(await fresh.id('read')).toBeNull();

  const stranger = new ConductorClient({ client: temporal.client, store: elsewhere, taskQueue });
  await expect(stranger.trace(id)).rejects.toThrow(sentence('client'));
  await expect(stranger.retry(id, { from: 0 })).rejects.toThrow(sentence('client'));
  const { runs } = await stranger.list({ taskQueue, known: [id] });
  expect(runs).toMatchObject([{ id, question: null }]);
});

test('a run that names no store, as of older versions, goes on with any; a store without an id serves any run', async () => {
  const store = new NamelessStore(join(await freshFolder(), 'store.db'));
  stage = await openStage({ store, config });
  const { client, temporal, taskQueue } = stage;
  stage.plan([step('a', 'Answer.')]);
  const id = await stage.whileWorking(async () => {
    const started = await client.start({ question: 'Who keeps it?', approval: 'plan' });
    await untilTrace(stage, started.id, ({ waitsFor }) => waitsFor === 'approval');
    return started.id;
  });
  store.isAway = false;
  await stage.whileWorking(async () => {
    await client.approvePlan(id);
    const trace = await untilTrace(
      stage,
      id,
      ({ status, waitsFor }) => status !== 'running' || waitsFor === 'store',
    );
    expect(trace).toMatchObject({ status: 'completed', calls: [{ worker: 'conductor' }, { worker: 'a' }] });
    // The first run that begins with the store at hand gives the store its id.
    expect(await store.id('read')).toBeNull();
    stage.plan([step('a', 'Answer.')]);
    await client.solve({ question: 'Who keeps it now?' }, `${id}-later`);
    expect(await store.id('read')).toMatch(/^[0-9a-f]{12}$/);
  });
  const plain = Object.assign(new SqliteStore(join(stage.folder, 'plain.db')), { id: undefined });
  const elsewhere = new ConductorClient({ client: temporal.client, store: plain, taskQueue });
  expect(await elsewhere.trace(`${id}-later`)).toMatchObject({ status: 'completed' });
});

test("a run whose worker lost its store's file waits until a copy is restored, and goes on with that", async () => {
  stage = await openStage({ config });
  const path = join(stage.folder, 'store.db');
  const files = ['', '-wal', '-shm'].map((end) => path + end);
  const release = stage.providers.hold('a');
  const id = await stage.whileWorking(async () => {
    const started = await startRun();
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    for (const file of files) {
      await copyFile(file, `${file}.copy`);
      await rm(file);
    }
    release();
    const trace = await untilTrace(stage, started, ({ waitsFor }) => waitsFor === 'store');
    expect(trace.waitReason).toContain(`the file of sqlite:${path} was deleted or replaced`);
    return started;
  });
  for (const file of files) await copyFile(`${file}.copy`, file);
  const store = new SqliteStore(path);
  const { client, taskQueue } = stage;
  const conductor = new ConductorClient({ client: stage.temporal.client, store, taskQueue });
  const plugins = [new ConductorPlugin({ config: stage.config, store })];
  const ended = await stage.whileWorking(() => conductor.attach(id).then(({ result }) => result()), {
    plugins,
  });
  // The first answer went to the deleted file alone; the row that the copy holds says that it may have been billed.
  const calls = [
    { worker: 'conductor' },
    { worker: 'a', attempt: 1, nanoUsd: null },
    { worker: 'a', attempt: 2 },
  ];
  expect(ended).toMatchObject({ status: 'completed', costIsLowerBound: true, calls });
  await expect(client.trace(id)).rejects.toThrow('was deleted or replaced');
});
