import { reportOf } from './report';
import { runChaos } from './run-chaos';

// Short forms of `npm run chaos`, with and without `--live`: the same program with fewer solves and kills.
test('solves survive kill -9, a frozen worker, a failing store and clock jumps, and nothing is paid twice', async () => {
  const bundle = process.env.TEST_WORKFLOW_BUNDLE ?? '';
  const options = { seed: 3, solves: 10, kills: 4, store: 'sqlite', live: false, bundle } as const;
  const result = await runChaos(options);
  if (result.findings.length > 0) throw new Error(reportOf(options, result));
  expect(result.evidence.runs.size).toBe(10);
  expect(new Set(result.evidence.kills.map(({ victim }) => victim)).size).toBe(4);
}, 240_000);

test('streams survive kill -9 of workers, readers and the server, and a returning reader gets the rest exactly once', async () => {
  const bundle = process.env.TEST_WORKFLOW_BUNDLE ?? '';
  const options = { seed: 4, solves: 6, kills: 6, store: 'sqlite', live: true, bundle } as const;
  const result = await runChaos(options);
  if (result.findings.length > 0) throw new Error(reportOf(options, result));
  const heard = result.evidence.heard ?? [];
  expect(heard.filter(({ event }) => event.kind === 'ended')).toHaveLength(6);
  expect(result.evidence.kills.map(({ victim }) => victim).sort()).toEqual([
    ...['client', 'client', 'server', 'server', 'worker', 'worker'],
  ]);
}, 240_000);
