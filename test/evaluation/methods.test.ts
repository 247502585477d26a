import { randomFrom } from '../../src/evaluation/chance';
import type { Team } from '../../src/evaluation/methods/method';
import { METHODS, readMethod, readMethods } from '../../src/evaluation/methods/read-method';
import { mostFrequent } from '../../src/evaluation/methods/samples';
import type { Plan } from '../../src/plan/plan';
import { validatePlan } from '../../src/plan/validate';

const workers = ['gpt', 'sonnet', 'qwen'];
const teamOf = (seed: number): Team => ({ workers, random: randomFrom(seed) });
const written: Plan = {
  steps: [
    { worker: 'sonnet', subtask: 'Plan it.', sees: [] },
    { worker: 'gpt', subtask: 'Do it.', sees: [0] },
  ],
};

test('every worker alone, and the Conductor where a method needs what it did', () => {
  expect(readMethods(['workers', 'vote'], workers)).toEqual([
    'conductor',
    'worker:gpt',
    'worker:sonnet',
    'worker:qwen',
    'vote:gpt',
  ]);
  expect(readMethods(['workers', 'worker:gpt', 'conductor:0', 'conductor:2'], workers)).toEqual([
    'worker:gpt',
    'worker:sonnet',
    'worker:qwen',
    'conductor',
    'conductor:2',
  ]);
});

test.each([
  ['voting', 'there is no method "voting": name some of conductor, worker, best-of'],
  ['toString', 'there is no method "toString"'],
  ['worker', 'method "worker" is not understood: expected one of gpt, sonnet, qwen behind the colon'],
  ['worker:o3', 'method "worker:o3" is not understood: expected one of gpt, sonnet, qwen'],
  ['conductor:10', 'method "conductor:10" is not understood: expected a depth from 0 to 9'],
  ['random:gpt', 'method "random:gpt" is not understood: expected nothing behind its name'],
  ['vote:gpt:5', 'there is no method "vote:gpt:5"'],
])('%s is refused with what is expected', (text, sentence) => {
  expect(() => readMethod(text, workers)).toThrow(sentence);
});

test.each(Object.keys(METHODS).filter((name) => name !== 'worker'))(
  '%s makes plans that a solve takes, the same ones for the same seed',
  (name) => {
    const { method } = readMethod(name, workers);
    const planOf = (seed: number): Plan | null => {
      if (method.kind === 'plan') return method.write(teamOf(seed));
      return method.kind === 'rewrite' ? method.rewrite(written, teamOf(seed)) : null;
    };
    for (let seed = 0; seed < 50; seed += 1) {
      const plan = planOf(seed);
      if (plan === null) return;
      expect(validatePlan(plan, { workers, maxSteps: 5, round: 0 })).toEqual(plan);
      expect(planOf(seed)).toEqual(plan);
    }
  },
);

test('an ablation changes what it is named by, and nothing else', () => {
  const changed = (name: string): Plan['steps'] => {
    const { method } = readMethod(name, workers);
    if (method.kind !== 'rewrite') throw new Error(`${name} writes a plan of its own`);
    return method.rewrite(written, teamOf(3)).steps;
  };
  const only = (key: 'worker' | 'subtask' | 'sees', name: string): void => {
    const [before, after] = [written.steps, changed(name)];
    const without = (step: Plan['steps'][number]): object => ({ ...step, [key]: null });
    expect(after.map(without)).toEqual(before.map(without));
  };
  only('subtask', 'generic');
  only('sees', 'silent');
  only('worker', 'one-model:qwen');
  only('worker', 'permuted');
  expect(changed('generic')[0]?.subtask).toBe(changed('generic')[1]?.subtask);
  expect(changed('silent').every(({ sees }) => sees.length === 0)).toBe(true);
  expect(changed('one-model:qwen').every(({ worker }) => worker === 'qwen')).toBe(true);
});

test('permuted gives each worker every place equally often', () => {
  const { method } = readMethod('permuted', workers);
  if (method.kind !== 'rewrite') throw new Error('it writes a plan of its own');
  const first = Array.from(
    { length: 300 },
    (_, seed) => method.rewrite(written, teamOf(seed)).steps[0]?.worker,
  );
  for (const worker of workers) {
    const count = first.filter((each) => each === worker).length;
    expect(count).toBeGreaterThan(70);
    expect(count).toBeLessThan(130);
  }
});

test('the answer that was given most often wins, of equals the earliest, and none does not count', () => {
  expect(mostFrequent(['a', 'b', 'b'])).toBe(1);
  expect(mostFrequent([null, 'b', 'a'])).toBe(1);
  expect(mostFrequent([null, null, null, 'c'])).toBe(3);
  expect(mostFrequent([null, null])).toBeNull();
  expect(mostFrequent([])).toBeNull();
});
