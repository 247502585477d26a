import { ConductorClient, ConductorPlugin } from '../../src';
import { openStore } from '../../src/store/open-store';
import { HAS_POSTGRES, PostgresServer } from '../support/postgres-server';
import { openStage, step } from '../support/stage';
import { until, untilTrace } from '../support/until';
import { useOnce } from '../support/use';

jest.setTimeout(240_000);

(HAS_POSTGRES ? describe : describe.skip)('a PostgreSQL that was dumped under load', () => {
  const lost = useOnce(() => PostgresServer.start());
  const found = useOnce(() => PostgresServer.start());
  const stage = useOnce(async () => {
    const store = openStore(lost.url(), lost.folder);
    await store.migrate?.();
    return openStage({ workers: ['a'], store });
  });

  test('is restored on another server, where a waiting run goes on, paid once', async () => {
    const river = 'The Danube, '.repeat(1000);
    stage.providers.answer('a', 'The Danube.');
    const id = await stage.whileWorking(async () => {
      stage.plan([step('a', 'Look it up.')]);
      const waiting = await stage.client.start({ question: `Which is longest? ${river}`, approval: 'plan' });
      await untilTrace(stage, waiting.id, ({ waitsFor }) => waitsFor === 'approval');
      stage.providers.answer('conductor', 'I would ask a.');
      let isDumped = false;
      const solveOn = async (): Promise<void> => {
        while (!isDumped) await stage.client.solve({ question: `Is this longer? ${river}` });
      };
      const solving = [solveOn(), solveOn()];
      await until(
        () => stage.requestsTo('a'),
        ({ length }) => length > 2,
      );
      const dump = await lost.dump();
      isDumped = true;
      await Promise.all(solving);
      await found.restore(dump);
      return waiting.id;
    });
    await lost.end();

    const store = openStore(found.url(), found.folder);
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
    // The plan of before the dump was not asked for again.
    expect(stage.requestsTo('conductor')).toHaveLength(before);
  });
});
