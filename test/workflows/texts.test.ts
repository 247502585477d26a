import { step, type Stage, useStage } from './stage';

const historyBytes = async ({ temporal }: Stage, id: string): Promise<number> =>
  (await temporal.client.workflow.getHandle(id).describe()).historySize ?? Infinity;

describe('long texts', () => {
  const stage = useStage({ workers: ['a', 'b'] });

  test('a long question travels by reference and reaches every worker whole', async () => {
    const question = `Which word is missing? ${'word '.repeat(20_000)}`;
    stage.plan([step('a', 'Look.'), step('b', 'Look again.', [0])]);
    stage.providers.answer('b', 'none');
    const result = await stage.solve({ question });
    expect(result).toMatchObject({ status: 'completed', question });
    expect(stage.providers.log.every(({ body }) => body.includes(question))).toBe(true);
    expect(await historyBytes(stage, result.id)).toBeLessThan(22_000);
  });

  test("the run's own result contains a long answer whole", async () => {
    const answer = 'long answer '.repeat(20_000).trim();
    stage.plan([step('a', 'Say a lot.')]);
    stage.providers.answer('a', answer);
    const { id } = await stage.solve({ question: 'Is it whole?' });
    expect(await stage.temporal.client.workflow.result(id)).toMatchObject({ answer });
  });

  test('an answer of which every byte takes six in JSON completes its run, whole', async () => {
    const answer = '\u0001'.repeat(800_000);
    stage.plan([step('a', 'Say nothing that can be seen.')]);
    stage.providers.answer('a', answer);
    const result = await stage.solve({ question: 'Is it whole?' });
    expect(result).toMatchObject({ status: 'completed', answer });
  });
});
