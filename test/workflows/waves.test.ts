import { step, useStage } from './stage';

describe('waves', () => {
  const stage = useStage();

  test('a question becomes a plan, the plan runs, and the last output is the answer', async () => {
    stage.plan([step('a', 'Find it.'), step('b', 'Check it.', [0])]);
    stage.providers.answer('a', 'forty-one?');
    stage.providers.answer('b', 'forty-two.');
    const result = await stage.solve({ question: 'What is it?' });
    expect(result).toMatchObject({ status: 'completed', answer: 'forty-two.', degraded: false, error: null });
    expect(result.rounds).toHaveLength(1);
    expect(result.rounds[0]?.steps).toMatchObject([
      { worker: 'a', wave: 0, output: 'forty-one?' },
      { worker: 'b', wave: 1, output: 'forty-two.' },
    ]);
    expect(result.calls.map((call) => call.purpose)).toEqual(['plan', 'step', 'step']);
    expect(result.costUsd).toBeGreaterThan(0);
  });

  test('steps of one wave overlap in time', async () => {
    stage.plan([step('a', 'First.'), step('b', 'Second.'), step('c', 'Third.', [0, 1])]);
    const releases = ['a', 'b'].map((model) => stage.providers.hold(model));
    await stage.whileWorking(async () => {
      const solved = stage.client.solve({ question: 'Do they overlap?' });
      // Neither request is answered before both have arrived, so this would hang if they did not overlap.
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
      const start = stage.requestsTo('c')[0]?.receivedAt ?? -Infinity;
      for (const { respondedAt } of [...stage.requestsTo('a'), ...stage.requestsTo('b')]) {
        expect(start).toBeGreaterThanOrEqual(respondedAt ?? Infinity);
      }
    });
  });
});
