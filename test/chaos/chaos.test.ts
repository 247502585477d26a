import { reportOf } from './report';
import { runChaos } from './run-chaos';

// The short form of `npm run chaos`: the same program with fewer solves and kills.
test('solves outlive kill -9, a frozen worker, a store in trouble and clocks that jump, and nothing is paid twice', async () => {
  const bundle = process.env.TEST_WORKFLOW_BUNDLE ?? '';
  const options = { seed: 3, solves: 10, kills: 4, store: 'sqlite', live: false, bundle } as const;
  const result = await runChaos(options);
  if (result.findings.length > 0) throw new Error(reportOf(options, result));
  expect(result.evidence.runs.size).toBe(10);
  expect(new Set(result.evidence.kills.map(({ victim }) => victim)).size).toBe(4);
}, 240_000);
