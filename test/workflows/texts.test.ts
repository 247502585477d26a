import { randomBytes } from 'node:crypto';
import { openStage, step, type Stage } from '../support/stage';

const historyBytes = async ({ temporal }: Stage, id: string): Promise<number> =>
  (await temporal.client.workflow.getHandle(id).describe()).historySize ?? Infinity;

describe('long texts', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ workers: ['a', 'b', 'c', 'd', 'e'] });
  });
  afterEach(async () => {
    await stage.close();
  });

  test('an output of 2 MB seen by four later steps lies in the store once, and the history stays small', async () => {
    const long = randomBytes(1024 * 1024).toString('hex');
    stage.plan([
      step('a', 'Say a lot.'),
      step('b', 'Second.', [0]),
      step('c', 'Third.', [0]),
      step('d', 'Fourth.', [0]),
      step('e', 'Last.', [0]),
    ]);
    stage.providers.answer('a', long);
    stage.providers.answer('e', 'short');

    const result = await stage.whileWorking(() => stage.client.solve({ question: 'Is it kept once?' }));

    expect(result).toMatchObject({ status: 'completed', answer: 'short' });
    expect(result.rounds[0]?.steps[0]?.output).toBe(long);
    expect(stage.providers.log.filter(({ body }) => body.includes(long))).toHaveLength(4);
    expect(await stage.store.list('texts/')).toHaveLength(1);
    expect(await historyBytes(stage, result.id)).toBeLessThan(22_000);
  });

  test('a long question travels by reference and reaches every worker whole', async () => {
    const question = `Which word is missing? ${'word '.repeat(20_000)}`;
    stage.plan([step('a', 'Look.'), step('b', 'Look again.', [0])]);
    stage.providers.answer('b', 'none');
    const result = await stage.whileWorking(() => stage.client.solve({ question }));
    expect(result).toMatchObject({ status: 'completed', question });
    expect(stage.providers.log.every(({ body }) => body.includes(question))).toBe(true);
    expect(await historyBytes(stage, result.id)).toBeLessThan(22_000);
  });

  test("the run's own result holds a long answer whole", async () => {
    const answer = 'long answer '.repeat(20_000).trim();
    stage.plan([step('a', 'Say a lot.')]);
    stage.providers.answer('a', answer);
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it whole?' });
      await expect(stage.temporal.client.workflow.result(id)).resolves.toMatchObject({ answer });
    });
  });

  test('an answer of which every byte takes six in JSON ends its run, whole', async () => {
    const answer = '\u0001'.repeat(800_000);
    stage.plan([step('a', 'Say nothing that can be seen.')]);
    stage.providers.answer('a', answer);
    const result = await stage.whileWorking(() => stage.client.solve({ question: 'Is it whole?' }));
    expect(result).toMatchObject({ status: 'completed', answer });
  });

  test('fifty steps of which everything is as long as may be, and longer in JSON, end their run', async () => {
    const subtask = '"\\'.repeat(2000);
    stage.plan(
      Array.from({ length: 50 }, (_, index) =>
        step(
          'a',
          subtask,
          Array.from({ length: index }, (__, seen) => seen),
        ),
      ),
    );
    stage.providers.answer('a', '\u0001'.repeat(680));
    const limits = { steps: 50, calls: 200, costUsd: null };
    const result = await stage.whileWorking(() => stage.client.solve({ question: 'Does it end?', limits }));
    expect(result).toMatchObject({ status: 'completed', usage: { calls: 51 } });
  }, 180_000);
});
