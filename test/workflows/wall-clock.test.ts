import { openStage, step, type Stage } from '../support/stage';

describe('a run whose time is used up', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({
      workers: ['a', 'b'],
      configure: (config) => ({ ...config, temporal: { heartbeat: '1s' } }),
    });
  });
  afterEach(async () => {
    await stage.close();
  });

  test('ends with the best answer it has, closes what is under way, and says what stopped it', async () => {
    stage.plan([step('a', 'Quick.'), step('b', 'Never done.')]);
    stage.providers.answer('a', 'the best there is');
    stage.providers.hold('b');
    await stage.whileWorking(async () => {
      const result = await stage.client.solve({ question: 'Is it in time?', limits: { wallClock: '3s' } });
      expect(result).toMatchObject({
        status: 'completed',
        answer: 'the best there is',
        stoppedBy: 'wallClock',
        degraded: true,
        costIsLowerBound: true,
      });
      expect(result.rounds[0]?.steps[1]?.error?.type).toBe('Limit.WallClock');
      const open = stage.providers.log.find(({ model }) => model === 'b');
      await stage.providers.waitForClose(open?.sequence ?? 0);
    });
  });

  test('fails when the Conductor used all of it', async () => {
    stage.providers.hold('conductor');
    await stage.whileWorking(async () => {
      const result = await stage.client.solve({ question: 'Is it in time?', limits: { wallClock: '2s' } });
      expect(result).toMatchObject({ status: 'failed', stoppedBy: 'wallClock', answer: null });
      expect(stage.providers.log).toHaveLength(1);
    });
  });
});
