import { endOf } from '../support/until';
import { ledgerOf } from '../support/ledger-of';
import { step, useStage } from '../support/stage';
import { startWorkerProcess } from './worker-process';

const HEARTBEAT_MS = 3000;

describe('if workers are killed in mid-request, a cost limit', () => {
  const stage = useStage({
    // The worst case of the second step is 0.043 USD: two attempts fit, and are reserved, but a third does not.
    config: { limits: { costUsd: 0.1 }, temporal: { heartbeat: `${HEARTBEAT_MS}ms` } },
  });

  test('pays for as many lost requests as were set aside, and no more', async () => {
    stage.plan([step('a', 'Quick.'), step('b', 'Lost again and again.', [0])]);
    stage.providers.answer('a', 'the best there is');
    stage.providers.hold('b');
    const { id } = await stage.client.start({ question: 'Who pays?' });
    for (const lost of [1, 2]) {
      const worker = await startWorkerProcess(stage);
      await stage.providers.waitForLog((log) => log.filter(({ model }) => model === 'b').length === lost);
      await worker.kill();
    }

    const result = await stage.whileWorking(() => endOf(stage, id));
    expect(result).toMatchObject({
      status: 'completed',
      answer: 'the best there is',
      stoppedBy: 'cost',
      costIsLowerBound: true,
    });
    const rows = (await ledgerOf(stage.store, id)).filter(({ worker }) => worker === 'b');
    expect(rows.map(({ nanoUsd, endedAt }) => [nanoUsd, endedAt])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect(stage.providers.log.filter(({ model }) => model === 'b')).toHaveLength(2);
    expect(result.spentAtMost?.nanoUsd).toBeLessThanOrEqual(100_000_000);
  });
});
