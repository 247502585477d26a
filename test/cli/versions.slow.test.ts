import { endedWith } from './command';
import { solveOverPromotion } from './promotion';
import { useStage } from './stage';

jest.setTimeout(300_000);

test('over the promotion of another build, each run ends on its own, and the old one drains', () =>
  solveOverPromotion(12));

describe('a worker with a version', () => {
  const stage = useStage({ boss: {}, alpha: {}, beta: {} }, { server: 'shared' });
  const version = { TEMPORAL_DEPLOYMENT_NAME: 'shop', TEMPORAL_WORKER_BUILD_ID: 'b1' };

  test('is refused with one of its variables, and a behavior without a version', async () => {
    const { TEMPORAL_DEPLOYMENT_NAME } = version;
    for (const command of ['worker', 'up']) {
      const half = stage.start([command], { env: { TEMPORAL_DEPLOYMENT_NAME } });
      expect(await half.ended).toMatchObject(
        endedWith(2, 'TEMPORAL_WORKER_BUILD_ID is not: set both, or neither'),
      );
    }
    expect(await stage.run('worker', '--versioning', 'auto-upgrade')).toMatchObject(
      endedWith(2, 'set TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID'),
    );
  });

  test('says which version it is; until that is current, nothing waits silently', async () => {
    const worker = stage.start(['up', '--versioning', 'auto-upgrade'], { env: version });
    await worker.hear(/^Version {5}b1 of shop, whose runs follow the current one/m);
    await worker.hear(/^Ready/m);
    const promotion = 'temporal worker deployment set-current-version --deployment-name shop --build-id b1';
    const solve = stage.start(['solve', '--detach', 'Who takes me?']);
    expect((await solve.ended).stderr).toContain(promotion);
    const { code, stdout } = await stage.run('doctor');
    expect(stdout).toMatch(/✗ Versions +new runs wait: every worker/);
    expect(stdout.replace(/\s+/g, ' ')).toContain(promotion);
    expect(code).toBe(1);
  });

  test('list refuses to look for what runs are not started with', async () => {
    expect(await stage.run('list', '--where', 'tenant=acme')).toMatchObject(
      endedWith(2, /cannot be found by their tenant.*temporal\.searchAttributes/),
    );
    expect(await stage.run('list', '--where', 'color=red')).toMatchObject(endedWith(2, 'tenant, key, model'));
  });
});
