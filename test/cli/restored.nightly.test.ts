import { execFile } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { ConductorClient } from '../../src';
import { openStore } from '../../src/store/open-store';
import { endedWith } from './command';
import { recordOf } from './folder';
import { PLAN, useStage } from './stage';

jest.setTimeout(300_000);

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'The Danube.' } });

const pathOf = (...names: string[]): string => join(stage.folder.path, '.conductor', ...names);

/** A question that is long enough for the store. */
const questionAbout = (river: string): string => `Which is the longest? ${`${river}, `.repeat(1000)}`;

/** Starts solves, the next when one has ended, until it is told to stop; returns how many there were. */
async function solveUntil(conductor: ConductorClient, hasStopped: () => boolean): Promise<number> {
  let solved = 0;
  for (; !hasStopped(); solved += 1) await conductor.solve({ question: `Is ${solved} a number?` });
  return solved;
}

/** Calls with a client of the folder's server and store. */
async function withConductor<T>(work: (conductor: ConductorClient) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: (await recordOf(stage.folder)).address });
  const store = openStore('sqlite:.conductor/store.db', stage.folder.path);
  try {
    return await work(new ConductorClient({ client: new Client({ connection }), store }));
  } finally {
    await connection.close();
  }
}

test('a store that was copied under load is restored, and a waiting run goes on, paid once', async () => {
  const up = await stage.startReady(['up']);
  const [early, late] = await withConductor(async (conductor) => {
    const before = await conductor.start({ question: questionAbout('Danube'), approval: 'plan' });
    let isCopied = false;
    const solving = [1, 2, 3].map(() => solveUntil(conductor, () => isCopied));
    await stage.providers.waitForRequest(({ body }) => body.includes('Is 2 a number?'));
    await promisify(execFile)('sqlite3', [
      pathOf('store.db'),
      '.timeout 30000',
      `.backup '${pathOf('copy.db')}'`,
    ]);
    isCopied = true;
    expect((await Promise.all(solving)).reduce((sum, each) => sum + each, 0)).toBeGreaterThan(3);
    const after = await conductor.start({ question: questionAbout('Rhine'), approval: 'plan' });
    return [before.id, after.id];
  });
  await up.end('SIGINT');
  for (const end of ['', '-wal', '-shm']) await rm(pathOf(`store.db${end}`), { force: true });
  await rename(pathOf('copy.db'), pathOf('store.db'));

  await stage.startReady(['up']);
  expect(await stage.run('approve', early)).toMatchObject({ code: 0 });
  expect(await stage.run('watch', early)).toMatchObject({ code: 0, stdout: 'The Danube.\n' });
  const asked = stage.providers.log.filter(({ body }) => body.includes('Danube, Danube'));
  expect(asked.map(({ model }) => model)).toEqual(['boss', 'alpha']);
  // The run began after the copy was made, so its texts are gone.
  expect(await stage.run('approve', late)).toMatchObject(endedWith(1, /text sha256-\w+ is not in the store/));
  expect(await stage.run('cancel', late)).toMatchObject(endedWith(0, `Run ${late} is cancelled.`));
});
