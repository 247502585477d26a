import { openStage, step, type Stage } from '../support/stage';

describe('waves', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(async () => {
    await stage.close();
  });

  test('steps of one wave overlap in time', async () => {
    stage.plan([step('a', 'First.'), step('b', 'Second.'), step('c', 'Third.', [0, 1])]);
    const releases = ['a', 'b'].map((model) => stage.providers.hold(model));
    await stage.whileWorking(async () => {
      const solved = stage.client.solve({ question: 'Do they overlap?' });
      // Both are open at once, or this would wait for ever: neither is answered before both have come.
      await stage.providers.waitForLog(
        (log) => log.filter(({ model, outcome }) => model !== 'conductor' && outcome === null).length === 2,
      );
      for (const release of releases) release();
      expect(await solved).toMatchObject({ status: 'completed' });
    });
  });

  test('a step starts as soon as what it may see is done, without waiting for the rest of the wave', async () => {
    stage.plan([step('a', 'Quick.'), step('b', 'Slow.'), step('c', 'Needs only the quick one.', [0])]);
    const release = stage.providers.hold('b');
    await stage.whileWorking(async () => {
      const solved = stage.client.solve({ question: 'Is the slow one waited for?' });
      await stage.providers.waitForLog((log) =>
        log.some(({ model, outcome }) => model === 'c' && outcome !== null),
      );
      expect(stage.providers.log.find(({ model }) => model === 'b')?.outcome).toBeNull();
      release();
      await solved;
    });
  });

  test('a step never starts before everything that it may see is done', async () => {
    stage.plan([step('a', 'One.'), step('b', 'Two.'), step('c', 'Three.', [0, 1])]);
    const releases = ['a', 'b'].map((model) => stage.providers.hold(model));
    await stage.whileWorking(async () => {
      const solved = stage.client.solve({ question: 'Is it too early?' });
      for (const release of releases) {
        await stage.providers.waitForLog((log) => log.some(({ model }) => model === 'b'));
        expect(stage.providers.log.some(({ model }) => model === 'c')).toBe(false);
        release();
      }
      await solved;
      const [lastAnswer, start] = [Math.max(...respondedAt(stage, 'a', 'b')), receivedAt(stage, 'c')];
      expect(start).toBeGreaterThanOrEqual(lastAnswer);
    });
  });
});

function respondedAt({ providers }: Stage, ...models: string[]): number[] {
  return providers.log
    .filter(({ model }) => models.includes(model ?? ''))
    .map((record) => record.respondedAt ?? Infinity);
}

function receivedAt({ providers }: Stage, model: string): number {
  return providers.log.find((record) => record.model === model)?.receivedAt ?? -Infinity;
}
