import { questionsOf } from '../../examples/evaluate/world';
import { CALL_NANO_USD, openEvaluation } from './open-evaluation';

const RUN_NANO_USD = 1e9;

test.each(['cancel', 'terminate'] as const)(
  'a solve that somebody ended by %s counts as all that it was given',
  async (how) => {
    const stage = await openEvaluation(questionsOf(1));
    const letGo = stage.providers.hold('scholar');
    try {
      const id = `eval-${how}`;
      const money = { limits: { costUsd: 1 }, runNanoUsd: RUN_NANO_USD, nanoUsd: 5 * RUN_NANO_USD };
      const input = await stage.inputOf(id, ['conductor', 'worker:clerk'], money);
      const progress = await stage.whileWorking(async () => {
        const end = stage.run(input);
        // The plan and the coder's answer are paid for by then.
        await stage.providers.waitForRequest(({ model }) => model === 'scholar');
        await stage.temporal.client.workflow.getHandle(`${id}-1-conductor`)[how]();
        const ended = await end;
        letGo();
        return ended;
      });
      const paid = stage.providers.log.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
      expect(paid).toBeGreaterThanOrEqual(3 * CALL_NANO_USD);
      expect(progress).toMatchObject({
        done: 1,
        stoppedBy: null,
        spentNanoUsd: RUN_NANO_USD + CALL_NANO_USD,
      });
    } finally {
      letGo();
      await stage.close();
    }
  },
);
