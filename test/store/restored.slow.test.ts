import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConductorClient, ConductorPlugin, type Store } from '../../src';
import { openStore } from '../../src/store/open-store';
import { freshFolder } from '../local/fresh-folder';
import { HAS_POSTGRES, PostgresServer } from '../support/postgres-server';
import { startS3Server } from '../support/s3-server';
import { openStage, step } from '../support/stage';
import { until, untilTrace } from '../support/until';
import { useOnce } from '../support/use';

jest.setTimeout(240_000);

/** A store on a server, and a second place that its copy is restored to. */
interface Backup {
  readonly store: Store;
  /** Copies the store into the second place while others write. */
  copy(): Promise<unknown>;
  /** Loses the store. */
  lose(): Promise<void>;
  openCopy(): Store;
  close(): Promise<unknown>;
}

async function backupOfPostgres(): Promise<Backup> {
  const [lost, found] = await Promise.all([PostgresServer.start(), PostgresServer.start()]);
  const store = openStore(lost.url(), lost.folder);
  await store.migrate?.();
  return {
    store,
    copy: async () => found.restore(await lost.dump()),
    lose: () => lost.end(),
    openCopy: () => openStore(found.url(), found.folder),
    close: () => Promise.all([lost.close(), found.close()]),
  };
}

async function backupOfS3(): Promise<Backup> {
  const folder = await freshFolder();
  for (const bucket of ['lost', 'found']) await mkdir(join(folder, bucket));
  const server = await startS3Server(folder);
  Object.assign(process.env, server.env);
  return {
    store: openStore('s3://lost/team', folder),
    copy: () => server.copy('lost', 'found'),
    lose: () => rm(join(folder, 'lost'), { recursive: true }),
    openCopy: () => openStore('s3://found/team', folder),
    close: server.close,
  };
}

const KINDS: readonly (readonly [kind: string, open: () => Promise<Backup>])[] = [
  ['a bucket of S3 that was copied', backupOfS3],
  ...(HAS_POSTGRES ? [['a PostgreSQL that was dumped', backupOfPostgres] as const] : []),
];

describe.each(KINDS)('%s under load', (_, open) => {
  const backup = useOnce(open);
  const stage = useOnce(() => openStage({ workers: ['a'], store: backup.store }));

  test('is restored elsewhere, where a waiting run goes on, paid once', async () => {
    const river = 'The Danube, '.repeat(1000);
    stage.providers.answer('a', 'The Danube.');
    const id = await stage.whileWorking(async () => {
      stage.plan([step('a', 'Look it up.')]);
      const waiting = await stage.client.start({ question: `Which is longest? ${river}`, approval: 'plan' });
      await untilTrace(stage, waiting.id, ({ waitsFor }) => waitsFor === 'approval');
      stage.providers.answer('conductor', 'I would ask a.');
      let isCopied = false;
      const solveOn = async (): Promise<void> => {
        while (!isCopied) await stage.client.solve({ question: `Is this longer? ${river}` });
      };
      const solving = [solveOn(), solveOn()];
      await until(
        () => stage.requestsTo('a'),
        ({ length }) => length > 2,
      );
      await backup.copy();
      isCopied = true;
      await Promise.all(solving);
      return waiting.id;
    });
    await backup.lose();

    const store = backup.openCopy();
    const { config, temporal, taskQueue } = stage;
    const client = new ConductorClient({ client: temporal.client, store, taskQueue });
    const before = stage.requestsTo('conductor').length;
    const answered = await stage.whileWorking(
      async () => {
        await client.approvePlan(id);
        return (await client.attach(id)).result();
      },
      { plugins: [new ConductorPlugin({ config, store })] },
    );
    expect(answered).toMatchObject({ status: 'completed', answer: 'The Danube.' });
    // The plan of before the copy was not asked for again.
    expect(stage.requestsTo('conductor')).toHaveLength(before);
  });
});
