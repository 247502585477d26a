import { openStage, step, type Stage } from '../support/stage';

describe('cancelling a run', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({
      workers: ['a', 'b', 'c'],
      configure: (config) => ({ ...config, temporal: { heartbeat: '1s' } }),
    });
  });
  afterEach(async () => {
    await stage.close();
  });

  test('closes its HTTP calls, makes no further one, and ends as cancelled', async () => {
    stage.plan([step('a', 'Slow.'), step('b', 'Slow as well.'), step('c', 'Never asked.', [0, 1])]);
    stage.providers.hold('a');
    stage.providers.hold('b');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it stopped?' });
      const open = await Promise.all(
        ['a', 'b'].map((model) => stage.providers.waitForRequest((record) => record.model === model)),
      );
      await stage.client.cancel(id);
      await Promise.all(open.map(({ sequence }) => stage.providers.waitForClose(sequence)));

      let last;
      for await (const trace of stage.client.watch(id)) last = trace;
      expect(last).toMatchObject({ status: 'cancelled', answer: null });
      const description = await stage.temporal.client.workflow.getHandle(id).describe();
      expect(description.status.name).toBe('CANCELLED');
      expect(stage.providers.log.map(({ model }) => model)).toEqual([
        'conductor',
        expect.any(String),
        expect.any(String),
      ]);
      const rows = await stage.rows(id);
      expect(rows.filter((row) => row.error?.type === 'Run.Cancelled')).toHaveLength(2);
      expect(rows.filter((row) => row.nanoUsd === null)).toHaveLength(2);
    });
  });

  test('works while the Conductor is thinking', async () => {
    stage.plan([step('a', 'Never asked.')]);
    stage.providers.hold('conductor');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it stopped?' });
      const { sequence } = await stage.providers.waitForRequest(({ model }) => model === 'conductor');
      await stage.client.cancel(id);
      await stage.providers.waitForClose(sequence);
      for await (const trace of stage.client.watch(id)) {
        if (trace.status !== 'running') expect(trace.status).toBe('cancelled');
      }
      expect(stage.providers.log).toHaveLength(1);
    });
  });
});
