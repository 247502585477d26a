import fc from 'fast-check';
import { askedBeside } from '../../src/evaluation/definitions';
import { randomFrom } from '../../src/statistics/chance';
import { type OpenedQuestion, type QuestionInput, slugOf } from '../../src/evaluation/contract';
import type { Team } from '../../src/evaluation/methods/method';
import { everyone } from '../../src/evaluation/methods/plans';
import { METHODS, nameWorker, readMethod, readMethods } from '../../src/evaluation/methods/read-method';
import { choicesAmong, MOST_ATTEMPTS, mostFrequent, toCompare } from '../../src/evaluation/methods/samples';
import { QuestionContext } from '../../src/evaluation/workflows/question-context';
import { externalCard, modelCard, runOf } from '../budget/cards';
import type { Plan } from '../../src';
import { validatePlan } from '../../src/plan/validate';
import { MAX_STEPS } from '../../src/protocol/messages';

const workers = ['gpt', 'sonnet', 'qwen'];
const CAST = { workers, conductors: { frontier: {} }, baselines: [{ id: 'giant' }] };
const teamOf = (seed: number): Team => ({ workers, random: randomFrom(seed) });
const written: Plan = {
  steps: [
    { worker: 'sonnet', subtask: 'Plan it.', sees: [] },
    { worker: 'gpt', subtask: 'Do it.', sees: [0] },
  ],
};

test('reads every worker alone, and adds the Conductor if a method needs what it did', () => {
  const alone = ['worker:gpt', 'worker:sonnet', 'worker:qwen'];
  expect(readMethods(['workers', 'vote'], CAST)).toEqual(['conductor', ...alone, 'vote:gpt']);
  const named = readMethods(['workers', 'worker:gpt', 'conductor:0', 'conductor:2'], CAST);
  expect(named).toEqual([...alone, 'conductor', 'conductor:2']);
});

test('lists the Conductors and baselines that methods ask beside the pool, once each', () => {
  const methods = readMethods(['workers', 'worker:giant', 'vote:giant', 'conductor:frontier:1'], CAST);
  expect(methods).toContain('conductor:frontier:1');
  expect(askedBeside(methods, CAST)).toEqual({ conductors: ['frontier'], baselines: ['giant'] });
  expect(askedBeside(readMethods(['workers', 'mixture'], CAST), CAST)).toEqual({
    conductors: [],
    baselines: [],
  });
});

test.each([
  ['voting', 'there is no method "voting": name some of conductor, worker, best-of'],
  ['toString', 'there is no method "toString"'],
  ['worker', 'method "worker" is not understood: expected one of gpt, sonnet, qwen, giant after the colon'],
  ['worker:o3', 'method "worker:o3" is not understood: expected one of gpt, sonnet, qwen, giant'],
  ['one-model:giant', 'expected one of gpt, sonnet, qwen after the colon'],
  ['mixture:giant', 'expected one of gpt, sonnet, qwen after the colon'],
  ['conductor:10', 'method "conductor:10" is not understood: expected a depth from 0 to 9'],
  ['random:gpt', 'method "random:gpt" is not understood: expected nothing after its name'],
  ['vote:gpt:5', 'method "vote:gpt:5" is not understood: expected one of gpt, sonnet, qwen'],
  [
    'conductor:strong',
    'method "conductor:strong" is not understood: expected a depth from 0 to 9 after the colon, one of frontier, or a checkpoint',
  ],
  ['conductor:toString', 'method "conductor:toString" is not understood'],
  ['conductor:Nightly/000040', 'or a checkpoint such as nightly/000040, or both, nightly/000040:1'],
  ['conductor:nightly/000040:10', 'method "conductor:nightly/000040:10" is not understood'],
  ['conductor:/000040', 'method "conductor:/000040" is not understood'],
  ['examples:some', 'method "examples:some" is not understood: expected none, in-domain or mixed'],
  ['worker:gpt:crowd', 'and optionally :team after it for the form of a plan'],
  ['mixture:o3', 'method "mixture:o3" is not understood: expected one of gpt, sonnet, qwen'],
  ['mixture:gpt:17', 'and optionally a second colon and up to 16 layers'],
  ['access:some', 'method "access:some" is not understood: expected binary or any after the colon'],
])('%s is refused with what is expected', (text, sentence) => {
  expect(() => readMethod(text, CAST)).toThrow(sentence);
});

const checkpoint = { checkpoint: 'nightly/000040' };

test.each([
  ['conductor:nightly/000040', 'conductor:nightly/000040', 0, checkpoint],
  ['conductor:nightly/40', 'conductor:nightly/000040', 0, checkpoint],
  ['conductor:nightly/40:0', 'conductor:nightly/000040', 0, checkpoint],
  ['conductor:nightly/40:2', 'conductor:nightly/000040:2', 2, checkpoint],
  ['examples', 'examples:none', 0, { examples: 'none' }],
  ['examples:mixed', 'examples:mixed', 0, { examples: 'mixed' }],
  ['access', 'access:binary', 0, { access: 'binary' }],
  ['access:any', 'access:any', 0, { access: 'any' }],
])('%s is %s', (text, name, depth, change) => {
  expect(readMethod(text, CAST)).toEqual({ name, method: { kind: 'conductor', depth, change } });
});

test('no two methods are kept in the same place', () => {
  const names = ['conductor:a/b-1', 'conductor:a/b:1', 'conductor:a-b/1', 'conductor:a-b/1:1', 'conductor:1'];
  expect(new Set(names.map(slugOf)).size).toBe(names.length);
});

test.each(Object.keys(METHODS).filter((name) => name !== 'worker'))(
  '%s makes plans that a solve accepts, and the same ones for the same seed',
  (name) => {
    const { method } = readMethod(name, CAST);
    const planOf = (seed: number): Plan | null => {
      if (method.kind === 'plan') return method.write(teamOf(seed), 'bare');
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

function changed(name: string, seed = 3): Plan['steps'] {
  const { method } = readMethod(name, CAST);
  if (method.kind !== 'rewrite') throw new Error(`${name} writes a plan of its own`);
  return method.rewrite(written, teamOf(seed)).steps;
}

test('an ablation changes only what it is named after', () => {
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

function planOf(name: string): Plan {
  const { method } = readMethod(name, CAST);
  if (method.kind !== 'plan') throw new Error(`${name} writes no plan`);
  return method.write(teamOf(3), method.solo?.form ?? 'team');
}

test('a worker alone gets the bare question, and a subtask as in a team if :team is named', () => {
  const first = (name: string): string | undefined => planOf(name).steps[0]?.subtask;
  expect(first('worker:gpt')).toBe('');
  expect(first('worker:gpt:team')).toBe('Answer the question completely.');
  expect(first('reflection:gpt')).toBe('');
  expect(readMethod('vote', CAST)).toEqual({
    name: 'vote:gpt',
    method: { kind: 'samples', form: 'bare', worker: 'gpt', choose: 'vote' },
  });
  expect(readMethod('best-of:qwen:team', CAST)).toEqual({
    name: 'best-of:qwen:team',
    method: { kind: 'samples', form: 'team', worker: 'qwen', choose: 'judge' },
  });
  expect(readMethods(['workers:team', 'workers'], { workers: ['gpt', 'qwen'] })).toEqual([
    ...['worker:gpt:team', 'worker:qwen:team', 'worker:gpt', 'worker:qwen'],
  ]);
});

test('a method that has forms and names none asks the best worker in the form in which it was best', () => {
  const named = ['worker:best', 'vote', 'vote:best:team', 'mixture:best', 'mixture:best:2', 'one-model'];
  expect(named.map((name) => nameWorker(name, 'worker:gpt:team'))).toEqual([
    ...['worker:gpt:team', 'vote:gpt:team', 'vote:gpt:team', 'mixture:gpt', 'mixture:gpt:2', 'one-model:gpt'],
  ]);
  expect(named.map((name) => nameWorker(name, 'worker:gpt'))).toEqual([
    ...['worker:gpt', 'vote:gpt', 'vote:gpt:team', 'mixture:gpt', 'mixture:gpt:2', 'one-model:gpt'],
  ]);
});

test("a user's own worker always has a subtask to read", () => {
  const input = { run: runOf([modelCard('gpt'), externalCard('agent')]) } as QuestionInput;
  const context = new QuestionContext(input, {} as OpenedQuestion);
  expect([context.formOf('gpt'), context.formOf('gpt', 'team'), context.formOf('agent')]).toEqual([
    'bare',
    'team',
    'team',
  ]);
  const subtasks = everyone({ workers: ['gpt', 'agent'], random: () => 0 }, (id) => context.formOf(id));
  expect(subtasks.steps.map(({ subtask }) => subtask)).toEqual(['', 'Answer the question completely.']);
});

test('in a mixture of two layers, every worker sees all answers of the first, and the last step those of the second', () => {
  const [one, two] = [planOf('mixture:sonnet'), planOf('mixture:sonnet:2')];
  expect(one.steps.map(({ worker, sees }) => [worker, sees])).toEqual([
    ['gpt', []],
    ['sonnet', []],
    ['qwen', []],
    ['sonnet', [0, 1, 2]],
  ]);
  expect(two.steps.map(({ worker, sees }) => [worker, sees])).toEqual([
    ['gpt', []],
    ['sonnet', []],
    ['qwen', []],
    ['gpt', [0, 1, 2]],
    ['sonnet', [0, 1, 2]],
    ['qwen', [0, 1, 2]],
    ['sonnet', [3, 4, 5]],
  ]);
  expect(readMethod('mixture:sonnet:1', CAST).name).toBe('mixture:sonnet');
  expect(readMethod('mixture:sonnet:2', CAST).name).toBe('mixture:sonnet:2');
  expect(planOf('mixture:gpt:16').steps).toHaveLength(49);
});

test('each attempt of a reflection sees all attempts before it', () => {
  expect(planOf('reflection:gpt').steps.map(({ sees }) => sees)).toEqual([
    [],
    [0],
    [0, 1],
    [0, 1, 2],
    [0, 1, 2, 3],
  ]);
});

test('permuted puts each worker first equally often', () => {
  const first = Array.from({ length: 300 }, (_, seed) => changed('permuted', seed)[0]?.worker);
  for (const worker of workers) {
    const count = first.filter((each) => each === worker).length;
    expect(count).toBeGreaterThan(70);
    expect(count).toBeLessThan(130);
  }
});

test('the most frequent answer wins, of equals the earliest, and a missing answer does not count', () => {
  expect(mostFrequent(['a', 'b', 'b'])).toBe(1);
  expect(mostFrequent([null, 'b', 'a'])).toBe(1);
  expect(mostFrequent([null, null, null, 'c'])).toBe(3);
  expect(mostFrequent([null, null])).toBeNull();
  expect(mostFrequent([])).toBeNull();
});

test('attempts are compared in groups that fit into one plan, each attempt once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MOST_ATTEMPTS }), (count) => {
      const answers = Array.from({ length: count }, (_, place) => place);
      const groups = toCompare(answers);
      expect(groups.flat()).toEqual(answers);
      const sizes = groups.map(({ length }) => length);
      expect(Math.max(...sizes)).toBeLessThan(MAX_STEPS);
      if (count > 1) expect(choicesAmong(count)).toBe(groups.length + choicesAmong(groups.length));
    }),
  );
  expect([1, 2, 49, 50, 200].map(choicesAmong)).toEqual([0, 1, 1, 3, 6]);
});
