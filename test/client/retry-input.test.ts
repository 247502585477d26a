import { checkWorker, retryInput } from '../../src/client/retry';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { SolveInput } from '../../src';
import { runOf } from '../budget/cards';
import { sampleTrace, withStep } from '../trace/sample-trace';

const REFERENCE = { ref: `sha256-${'0'.repeat(64)}`, bytes: 5000, preview: 'Once' };
const INPUT: SolveInput = {
  question: REFERENCE,
  pool: { deny: ['beta'] },
  limits: { costUsd: 0.5 },
  seed: 7,
};

describe('a run that continues from a step of an earlier one', () => {
  test('keeps question, pool, limits, plan, and the outputs before that step', () => {
    const trace = withStep({ ...sampleTrace(), answer: null }, 2, { output: 'Paris it is.' });
    const long = withStep(trace, 0, { output: 'Paris.' });
    const steps = trace.rounds[0]?.plan?.steps;
    expect(retryInput(INPUT, long, { from: 2 })).toEqual({
      ...INPUT,
      // The second step had failed, so it is run again.
      given: { plan: { steps }, outputs: ['Paris.', null, null] },
    });
  });

  test('takes another worker or task for that step only', () => {
    const { given } = retryInput(INPUT, sampleTrace(), { from: 1, worker: 'opus', subtask: 'Check twice' });
    expect(given?.plan.steps.map(({ worker, subtask }) => `${worker}: ${subtask}`)).toEqual([
      'gpt: Find the capital',
      'opus: Check twice',
      'gpt: Combine',
    ]);
    expect(given?.plan.steps[1]?.sees).toEqual([]);
  });

  test('takes other limits, and keeps those that are not named', () => {
    const before = { ...INPUT, limits: { costUsd: 0.5, depth: 2 } };
    const { limits } = retryInput(before, sampleTrace(), { from: 1, limits: { costUsd: 2 } });
    expect(limits).toEqual({ costUsd: 2, depth: 2 });
  });

  test('keeps the rights of its key, unless another key asks for it, or an operator for more', () => {
    const { limits: most } = runOf([]);
    const rights = { models: ['worker/a'], limits: { ...most, nanoUsd: 1e9 } };
    const [before, trace] = [{ ...INPUT, rights }, sampleTrace()];
    const ask = (more: object): unknown => retryInput(before, trace, { from: 0, ...more }).rights;
    expect(ask({ limits: { costUsd: 2 } })).toEqual(rights);
    expect(ask({ limits: { costUsd: 2 }, asOperator: false })).toEqual(rights);
    expect(ask({ rights: { ...rights, models: ['worker/b'] } })).toEqual({ ...rights, models: ['worker/b'] });
    expect(ask({ asOperator: true })).toEqual(rights);
    const dearer = { models: ['worker/a'], limits: { ...most, nanoUsd: 2e9 } };
    expect(ask({ asOperator: true, limits: { costUsd: 2, depth: 0 } })).toEqual(dearer);
    const deeper = { models: null, limits: { ...rights.limits, depth: 2 } };
    expect(ask({ asOperator: true, limits: { depth: 2 } })).toEqual(deeper);
    expect(retryInput(INPUT, trace, { from: 0, asOperator: true }).rights).toBeUndefined();
  });

  test('is not given a blank task, which it would not know how to do', () => {
    expect(() => retryInput(INPUT, sampleTrace(), { from: 1, subtask: ' ' })).toThrow('the subtask is blank');
  });

  test.each([3, -1, 0.5])('has no step %d to continue from', (from) => {
    expect(() => retryInput(INPUT, sampleTrace(), { from })).toThrow(
      `has no step ${from + 1}: name one from 1 to 3`,
    );
  });

  test('needs a plan', () => {
    expect(() => retryInput(INPUT, sampleTrace({ rounds: [] }), { from: 0 })).toThrow('solve-1 has no plan');
  });

  test('cannot continue a child', () => {
    const parent = { rootId: 'solve-0' } as NonNullable<SolveInput['parent']>;
    expect(() => retryInput({ ...INPUT, parent }, sampleTrace(), { from: 0 })).toThrow(
      'retry solve-0 instead',
    );
  });

  test('takes no worker that the earlier run may not use', () => {
    const run = resolveRun(
      parseConfig({
        conductor: { provider: 'local', model: 'm' },
        workers: ['alpha', 'beta'].map((id) => ({ id, provider: 'local', model: 'm' }) as const),
        recursion: 'never',
      }),
      { pool: { deny: ['beta'] } },
    );
    const known = { input: INPUT, run };
    const check = (worker: string) => () => {
      checkWorker(known, 'solve-1', worker);
    };
    expect(check('beta')).toThrow('run solve-1 may not use worker beta, nor may one');
    expect(check('conductor')).toThrow('name one of alpha');
    // Worker gamma may have been added to the configuration since.
    expect(check('gamma')).not.toThrow();
    expect(check('alpha')).not.toThrow();
  });
});
