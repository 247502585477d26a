import type { ConfigInput } from '../../src';
import { renderPlan } from '../../src/plan/render';
import { solveResultSchema } from '../../src/protocol/solve';
import { poolAt } from './folder';
import { useStage } from './stage';
import { step } from '../support/step';
import { until } from '../support/until';
import { endedWith, said } from './command';

const QUESTION = 'What is the capital of France?';
const ANSWER = 'Paris, of course.';
const WORKERS = ['alpha', 'beta', 'conductor'];
const STEPS = [step('alpha', 'Find it'), step('conductor', 'Weigh it', [0]), step('beta', 'Say it', [1])];
const DEEP = renderPlan({ steps: STEPS }, WORKERS);
const FLAT = renderPlan({ steps: [step('alpha', 'Compare')] }, WORKERS);

const stage = useStage(
  { boss: { answer: FLAT }, alpha: { answer: 'It is Paris.' }, beta: { answer: ANSWER } },
  { configOf: pricedPool, server: 'shared' },
);
const { start, run } = stage;

/** Returns a pool in which every call costs a few hundredths of a cent. */
function pricedPool(url: string): ConfigInput {
  const price = { input: 2, output: 10 };
  const { conductor, workers, ...rest } = poolAt(url, { recursion: 'worker' });
  return {
    ...rest,
    conductor: { ...conductor, price },
    workers: workers.map((worker) => ({ ...worker, price }) as typeof worker),
  };
}

test('in a run of depth 2, the child is shown, depth, limits and hints can be changed, and a step can be rerun', async () => {
  stage.providers.script('boss', [DEEP]);
  stage.providers.script('alpha', ['Paris?']);
  const solving = start(['solve', QUESTION, '--max-depth', '2']);
  const [, id = ''] = await solving.hear(/^(solve-[\w-]+):/m);
  await solving.hear(/the plan comes to at most \d+ calls, [\d,]+ tokens, \$\d/);
  await solving.hear(/step 1 \(alpha\) done/);
  const release = stage.providers.hold('alpha');
  await solving.hear(/step 2 › step 1 \(alpha\) started/);

  const [tree, depth, hint, limits] = await Promise.all([
    run('trace', id),
    run('depth', id, '0'),
    run('hint', id, 'Mind the map.'),
    run('limits', id, '--calls', '150', '--wall-clock', '1h'),
  ]);
  expect(tree.stdout).toMatch(/▸ 2 conductor .*\n.*Weigh it\n.*Round 1 · depth 1\n[^]*▸ 1 alpha/);
  expect(depth).toMatchObject(endedWith(0, 'depth 0'));
  expect(hint).toMatchObject(endedWith(0, 'reads it'));
  expect(limits.code).toBe(0);
  expect(limits.stdout).toMatch(
    /^cost +\$1\.00\ncalls +150\ntokens +no limit\ntime +60 min 0 s from its start, \d+ min \d+ s left\n/,
  );
  const low = await run('limits', id, '--max-cost', '0.0001', '--steps', '4');
  expect(low.stderr).toMatch(
    /cost: used up already, or set aside for calls and children under way\. The run starts nothing more/,
  );
  const [, held = ''] = /^cost +(\$\d\.\d+)$/m.exec(low.stdout) ?? [];
  expect((await run('limits', id, '--max-cost', '1')).stdout).toMatch(/^cost +\$1\.00$/m);
  expect((await run('limits', id)).stdout).toMatch(/^depth +0$/m);
  release();
  expect(await solving.ended).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });

  const late = `run ${id} has ended already: completed; nothing of it can be changed. "temporal-conductor retry ${id} `;
  for (const told of [
    ['hint', id, 'Too late.'],
    ['depth', id, '1'],
    ['limits', id],
    ['limits', id, '--calls', '99'],
  ])
    expect(await run(...told)).toMatchObject({ ...endedWith(1, late), stdout: '' });
  expect((await run('trace', id)).stdout).toContain(`limits set: cost $0.0001 (held: ${held}), steps 4`);
  for (const state of ['running', 'completed'])
    expect((await run('list', '--state', state)).stdout.includes(id)).toBe(state === 'completed');
  const calls = stage.providers.log.length;
  const again = await run('retry', id, '--from', '3', '--worker', 'alpha', '--subtask', 'Say it', '--json');
  const result = solveResultSchema.parse(JSON.parse(again.stdout));
  expect(result).toMatchObject({ status: 'completed', question: QUESTION, answer: 'It is Paris.' });
  expect(again.stderr).toMatch(new RegExp(`Goes on from step 3 of ${id} as ${id}-retry-\\w+\\.`));
  expect(again.stderr).toContain('step 1 (alpha) kept: Paris?');
  expect(stage.providers.log).toHaveLength(calls + 1);
  expect(await run('retry', id, '--from', '4')).toMatchObject(endedWith(2, 'name one from 1 to 3'));
  const nobody = await run('retry', id, '--from', '3', '--worker', 'nobody');
  expect(nobody).toMatchObject(endedWith(2, 'the pool has no worker "nobody"'));
  expect(stage.providers.log).toHaveLength(calls + 1);
}, 240_000);

test('a time limit below the time already used can be set, and the command says what follows', async () => {
  const { solving, id, release } = await stage.solveUntil('boss', QUESTION);
  expect((await run('limits', id)).stdout).toMatch(/^time +.* from its start, .* left$/m);
  const low = await until(
    () => run('limits', id, '--wall-clock', '1s'),
    ({ stdout }) => stdout.includes('1.0 s from its start, 0 ms left'),
  );
  expect(low.stderr).toMatch(/time: used up already, .* The run starts nothing more/);
  release();
  const { code, stderr } = await solving.ended;
  expect({ code, stderr }).toEqual({ code: 3, stderr: said('The run was stopped by its limit on time.') });
  expect(stage.providers.log.filter(({ model }) => model === 'alpha')).toEqual([]);
});

test('a cost limit stops a run before it is exceeded, and the command says which limit, why and what to do', async () => {
  const { code, stdout, stderr } = await run('solve', QUESTION, '--max-cost', '0.02');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain('The run was stopped by its limit on cost.');
  expect(stderr).toContain('worst case');
  expect(stderr).toMatch(/Raise limits\.costUsd in the configuration, or --max-cost/);
  expect(stage.providers.log.filter(({ model }) => model === 'alpha')).toEqual([]);
});
