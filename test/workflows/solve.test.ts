import { openStage, step, type Stage } from '../support/stage';

describe('solve', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(async () => {
    await stage.close();
  });

  test('a question becomes a plan, the plan runs, and the last output is the answer', async () => {
    stage.plan([step('a', 'Find it.'), step('b', 'Check it.', [0])]);
    stage.providers.answer('a', 'forty-one?');
    stage.providers.answer('b', 'forty-two.');

    const result = await stage.whileWorking(() => stage.client.solve({ question: 'What is it?' }));

    expect(result).toMatchObject({ status: 'completed', answer: 'forty-two.', degraded: false, error: null });
    expect(result.rounds).toHaveLength(1);
    expect(result.rounds[0]?.steps).toMatchObject([
      { worker: 'a', wave: 0, output: 'forty-one?' },
      { worker: 'b', wave: 1, output: 'forty-two.' },
    ]);
    expect(result.calls.map((call) => call.purpose)).toEqual(['plan', 'step', 'step']);
    expect(result.costUsd).toBeGreaterThan(0);
  });
});
