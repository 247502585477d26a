import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConductorPlugin } from '../../src';
import { SqliteStore } from '../../src/store/sqlite-store';
import { renderTree } from '../../src/trace/tree';
import { freshFolder } from '../local/fresh-folder';
import { openStage, type Stage, step } from '../support/stage';
import { until, untilTrace } from '../support/until';

/** Takes no answer of a model while it is full. */
class FullStore extends SqliteStore {
  isFull = true;

  override create(key: string, bytes: Uint8Array): Promise<boolean> {
    const isRefused =
      this.isFull && key.startsWith('answers/') && Buffer.from(bytes).includes('"worker":"a"');
    return isRefused ? Promise.reject(new Error('no space left on device')) : super.create(key, bytes);
  }
}

let stage: Stage;
afterEach(() => stage.close());

const config = { temporal: { heartbeat: '1s' } };

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

test("a run whose worker lost its store's file waits for a worker with the file that is there now", async () => {
  stage = await openStage({ config });
  const path = join(stage.folder, 'store.db');
  const release = stage.providers.hold('a');
  const id = await stage.whileWorking(async () => {
    const started = await startRun();
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    for (const end of ['', '-wal', '-shm']) await rm(path + end);
    release();
    const trace = await untilTrace(stage, started, ({ waitsFor }) => waitsFor === 'store');
    expect(trace.waitReason).toContain(`the file of sqlite:${path} was deleted or replaced`);
    return started;
  });
  const plugins = [new ConductorPlugin({ config: stage.config, store: new SqliteStore(path) })];
  const handle = stage.temporal.client.workflow.getHandle(id);
  await stage.whileWorking(
    () =>
      until(
        () => handle.describe(),
        ({ status }) => status.name === 'COMPLETED',
      ),
    {
      plugins,
    },
  );
  // The first answer is lost with its file, and no trace of it is left: the second one is kept.
  expect(stage.requestsTo('a')).toHaveLength(2);
  expect(await stage.temporal.client.workflow.getHandle(id).result()).toMatchObject({ status: 'completed' });
});
