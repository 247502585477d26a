import type { TemporalServer } from '../../src/local/configured-server';
import { embeddedServer, stopServer } from '../../src/local/embedded-server';
import { freshFolder } from '../local/fresh-folder';
import { openStage, step } from '../support/stage';
import { keptAnswers } from './kept-answers';
import { startWorkerProcess } from './worker-process';

const used: TemporalServer[] = [];
afterEach(() => Promise.all(used.map((server) => server.stop())));

/** Finds or starts the folder's server, as a command does. */
async function attach(folder: string): Promise<TemporalServer> {
  const server = await embeddedServer({ folder, say: () => undefined });
  used.push(server);
  return server;
}

test('after kill -9 of the embedded server, the next command restarts it on the same file, and the run finishes', async () => {
  const folder = await freshFolder();
  const before = await attach(folder);
  const stage = await openStage({ address: before.address, workers: ['a', 'b'] });
  try {
    stage.plan([step('a', 'Outlive it.'), step('b', 'Go on.', [0])]);
    const release = stage.providers.hold('a');
    const worker = await startWorkerProcess(stage);
    const { id } = await stage.client.start({ question: 'Who keeps the thread?' });
    await stage.providers.waitForRequest(({ model }) => model === 'a');

    await stopServer(folder);
    // The answer arrives while no server is there to be told of it.
    release();
    await stage.providers.waitForRequest(({ model, outcome }) => model === 'a' && outcome === 'answered');

    const after = await attach(folder);
    expect(after.address).toBe(before.address);
    await stage.temporal.client.workflow.getHandle(id).result();
    expect(await stage.client.trace(id)).toMatchObject({ status: 'completed', degraded: false });
    expect(await keptAnswers(stage.store)).toEqual(['a', 'b', 'conductor']);
    expect(stage.providers.log.map(({ model }) => model)).toEqual(['conductor', 'a', 'b']);
    await worker.kill();
  } finally {
    await stage.close();
  }
});
