import type { ConfigInput } from '../../src';
import { renderPlan } from '../../src/plan/render';
import { solveResultSchema } from '../../src/protocol/solve';
import { type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { type Ended, runCommand, type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt } from './folder';
import { until } from '../support/until';

const QUESTION = 'What is the capital of France?';
const ANSWER = 'Paris, of course.';
const WORKERS = ['alpha', 'beta', 'conductor'];
const DEEP = renderPlan(
  {
    steps: [
      { worker: 'alpha', subtask: 'Find it', sees: [] },
      { worker: 'conductor', subtask: 'Weigh it', sees: [0] },
      { worker: 'beta', subtask: 'Say it', sees: [1] },
    ],
  },
  WORKERS,
);
const FLAT = renderPlan({ steps: [{ worker: 'alpha', subtask: 'Compare', sees: [] }] }, WORKERS);

let folder: Folder;
let providers: SimulatedProviders;
const started: RunningCommand[] = [];

beforeEach(async () => {
  folder = await makeFolder();
  providers = await startSimulatedProviders({
    models: { boss: { answer: FLAT }, alpha: { answer: 'It is Paris.' }, beta: { answer: ANSWER } },
  });
  await folder.write('conductor.yaml', pricedPool());
});

afterEach(async () => {
  // A test that failed may have left some.
  await Promise.all(
    started.splice(0).map((command) => {
      command.signal('SIGINT');
      return command.ended;
    }),
  );
  await providers.close();
  await folder.remove();
});

/** Every call costs a few hundredths of a cent. */
function pricedPool(): ConfigInput {
  const price = { input: 2, output: 10 };
  const { conductor, workers, ...rest } = poolAt(providers.url, { recursion: 'worker' });
  return {
    ...rest,
    conductor: { ...conductor, price } as typeof conductor,
    workers: workers.map((worker) => ({ ...worker, price }) as typeof worker),
  };
}

function start(...args: string[]): RunningCommand {
  const command = startCommand(args, { cwd: folder.path });
  started.push(command);
  return command;
}

function run(...args: string[]): Promise<Ended> {
  return runCommand(args, { cwd: folder.path });
}

test('a run two deep: its child appears; depth, limits and hints are changed meanwhile; a step is run again', async () => {
  providers.script('boss', [DEEP]);
  providers.script('alpha', ['Paris?']);
  const solving = start('solve', QUESTION, '--max-depth', '2');
  const [, id = ''] = await solving.hear(/^(solve-[\w-]+):/m);
  await solving.hear(/the plan comes to at most \d+ calls, [\d,]+ tokens, \$\d/);
  await solving.hear(/step 1 \(alpha\) done/);
  const release = providers.hold('alpha');
  await solving.hear(/step 2 › step 1 \(alpha\) started/);

  const [tree, depth, hint, limits] = await Promise.all([
    run('trace', id),
    run('depth', id, '0'),
    run('hint', id, 'Mind the map.'),
    run('limits', id, '--calls', '150', '--wall-clock', '1h'),
  ]);
  expect(tree.stdout).toMatch(/▸ 2 conductor .*\n.*Weigh it\n.*Round 1 · depth 1\n[^]*▸ 1 alpha/);
  expect(depth).toMatchObject({ code: 0, stderr: expect.stringContaining('depth 0') as string });
  expect(hint).toMatchObject({ code: 0, stderr: expect.stringContaining('reads it') as string });
  expect(limits.code).toBe(0);
  expect(limits.stdout).toMatch(
    /^cost +\$1\.00\ncalls +150\ntokens +no limit\ntime +60 min 0 s from its start, \d+ min \d+ s left\n/,
  );
  expect(limits.stderr).toContain('Set: calls, time.');
  const low = await run('limits', id, '--max-cost', '0.0001', '--steps', '4');
  expect(low.stderr).toMatch(
    /Set: steps\.\ncost: not \$0\.0001, since (\$[\d.]+) is spent .* the run starts nothing more, and a child under way keeps to its share\./,
  );
  expect(low.stderr).toContain('steps: this holds for plans that are yet to be written.');
  expect((await run('limits', id, '--max-cost', '1')).stdout).toMatch(/^cost +\$1\.00$/m);
  expect((await run('limits', id)).stdout).toMatch(/^depth +0$/m);
  release();
  expect(await solving.ended).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });

  expect(await run('hint', id, 'Too late.')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has ended already') as string,
  });
  const calls = providers.log.length;
  const again = await run('retry', id, '--from', '3', '--worker', 'alpha', '--subtask', 'Say it', '--json');
  const result = solveResultSchema.parse(JSON.parse(again.stdout));
  expect(result).toMatchObject({ status: 'completed', question: QUESTION, answer: 'It is Paris.' });
  expect(again.stderr).toMatch(new RegExp(`Goes on from step 3 of ${id} as ${id}-retry-\\w+\\.`));
  expect(again.stderr).toContain('step 1 (alpha) kept: Paris?');
  expect(providers.log).toHaveLength(calls + 1);
  expect(await run('retry', id, '--from', '4')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('name one from 1 to 3') as string,
  });
  expect(await run('retry', id, '--from', '3', '--worker', 'nobody')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the pool has no worker "nobody"') as string,
  });
  expect(providers.log).toHaveLength(calls + 1);
}, 120_000);

test('a limit on time below what is used up is set, and says what happens then', async () => {
  const release = providers.hold('boss');
  const solving = start('solve', QUESTION);
  const [, id = ''] = await solving.hear(/^(solve-[\w-]+):/m);
  await providers.waitForRequest(({ model }) => model === 'boss');
  expect((await run('limits', id)).stdout).toMatch(/^time +.* from its start, .* left$/m);
  const low = await until(
    () => run('limits', id, '--wall-clock', '1s'),
    ({ stdout }) => stdout.includes('1.0 s from its start, 0 ms left'),
  );
  expect(low.stderr).toMatch(/Set: time\.\ntime: it is used up already, so the run starts nothing more\./);
  release();
  const { code, stderr } = await solving.ended;
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining('The run was stopped by its limit on time.') as string,
  });
  expect(providers.log.filter(({ model }) => model === 'alpha')).toEqual([]);
});

test('a limit on cost ends a run before it is overrun, and says which, why so early, and what to do', async () => {
  const { code, stdout, stderr } = await run('solve', QUESTION, '--max-cost', '0.02');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain('The run was stopped by its limit on cost.');
  expect(stderr).toContain('worst case');
  expect(stderr).toMatch(/Raise limits\.costUsd in conductor\.yaml, or --max-cost/);
  expect(providers.log.filter(({ model }) => model === 'alpha')).toEqual([]);
});
