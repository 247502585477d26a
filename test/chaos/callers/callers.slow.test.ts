import { reportOf } from '../report';
import { runCallerChaos } from './run-caller-chaos';

// Short form of `npm run chaos -- --callers`.
test('a client’s functions survive kill -9 of gateway, worker and server: no turn is paid twice, no result is lost', async () => {
  const options = { seed: 3, solves: 6, kills: 4, bundle: process.env.TEST_WORKFLOW_BUNDLE ?? '' };
  const result = await runCallerChaos(options);
  if (result.findings.length > 0) throw new Error(reportOf({ ...options, store: 'sqlite' }, result));
  expect(result.evidence.kills.map(({ victim }) => victim).sort()).toEqual([
    'gateway',
    'gateway',
    'server',
    'worker',
  ]);
}, 240_000);
