import { reportOf } from '../report';
import { runToolChaos } from './run-tool-chaos';

// Short form of `npm run chaos -- --tools`.
test('calls of tools survive kill -9 of workers and servers: none is sent twice, and what is unknown is told', async () => {
  const options = { seed: 5, solves: 6, kills: 3, bundle: process.env.TEST_WORKFLOW_BUNDLE ?? '' };
  const result = await runToolChaos(options);
  if (result.findings.length > 0) throw new Error(reportOf({ ...options, store: 'sqlite' }, result));
  expect(result.evidence.kills.map(({ victim }) => victim).sort()).toEqual([
    'tools over HTTP',
    'tools over stdio',
    'worker',
  ]);
}, 240_000);
