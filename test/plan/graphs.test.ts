import fc from 'fast-check';
import { CONDUCTOR_ID, planWaves, stepsSharingPrompts } from '../../src/plan/plan';
import { TOPOLOGIES, topologyOf } from '../../src/plan/topology';

const planOf = (...sees: readonly (readonly number[])[]) => ({
  steps: sees.map((seen) => ({ worker: 'w', subtask: '', sees: seen })),
});

test.each([
  ['one step', planOf([]), 'single'],
  ['two in a row', planOf([], [0]), 'chain'],
  ['a row in which everybody sees all before', planOf([], [0], [0, 1], [0, 1, 2]), 'chain'],
  ['nobody sees anybody', planOf([], [], []), 'parallel'],
  ['two attempts and a judge', planOf([], [], [0, 1]), 'aggregate'],
  ['a checked attempt, another one, and a judge', planOf([], [0], [], [1, 2]), 'tree'],
  ['the same, where the judge sees the checked attempt, too', planOf([], [0], [], [0, 1, 2]), 'tree'],
  ['one plan for two who carry it out, and a judge', planOf([], [0], [0], [1, 2]), 'verify'],
  ['the same, where one of them takes two steps', planOf([], [0], [0], [2], [1, 3]), 'verify'],
  ['two of whom one is used twice', planOf([], [], [0, 1], [0], [2, 3]), 'other'],
  ['an output that nobody uses', planOf([], [], [1]), 'other'],
  ['a judge who judges nothing', planOf([], [0], []), 'other'],
  ['nothing: the answer at hand is accepted', planOf(), null],
])('kind of %s', (_, plan, expected) => {
  expect(topologyOf(plan)).toBe(expected);
});

const graphs = fc
  .array(fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 6 })
  .map((rows) => rows.map((row, index) => row.slice(0, index).flatMap((seen, step) => (seen ? [step] : []))));

test('every plan has exactly one kind, whose properties its graph has', () => {
  fc.assert(
    fc.property(graphs, (sees) => {
      const kind = topologyOf(planOf(...sees));
      const isUsed = sees.map((_, step) => sees.some((seen) => seen.includes(step)));
      expect(TOPOLOGIES).toContain(kind);
      expect(kind === 'single').toBe(sees.length === 1);
      expect(kind === 'parallel').toBe(sees.length > 1 && sees.every((seen) => seen.length === 0));
      const isWhole = isUsed.slice(0, -1).every(Boolean);
      if (['chain', 'aggregate', 'verify', 'tree'].includes(kind ?? '')) expect(isWhole).toBe(true);
      const sources = sees.filter((seen) => seen.length === 0).length;
      if (kind === 'chain' || kind === 'verify') expect(sources).toBe(1);
      if (kind === 'aggregate') expect(sources).toBe(sees.length - 1);
      if (isWhole && sees.length > 1 && sources === 1) expect(['chain', 'verify']).toContain(kind);
    }),
  );
});

test('a step given to the Conductor makes any plan a recursion', () => {
  fc.assert(
    fc.property(graphs, fc.nat(), (sees, at) => {
      const { steps } = planOf(...sees);
      const own = steps.map((step, index) =>
        index === at % steps.length ? { ...step, worker: CONDUCTOR_ID } : step,
      );
      expect(topologyOf({ steps: own })).toBe('recursion');
    }),
  );
});

test('seeing directly what is already seen through another step does not change the kind', () => {
  fc.assert(
    fc.property(graphs, (sees) => {
      const reach: number[][] = [];
      for (const seen of sees) {
        const all = new Set([...seen, ...seen.flatMap((step) => reach[step] ?? [])]);
        reach.push([...all].toSorted((a, b) => a - b));
      }
      expect(topologyOf(planOf(...reach))).toBe(topologyOf(planOf(...sees)));
    }),
  );
});

test.each([
  ['no steps', planOf(), []],
  ['independent attempts and a judge', planOf([], [], [0, 1]), [0, 0, 1]],
  ['a chain', planOf([], [0], [1]), [0, 1, 2]],
  ['a step that depends on an early one only', planOf([], [0], [0], [1], []), [0, 1, 1, 2, 0]],
])('waves of %s', (_, plan, waves) => {
  expect(planWaves(plan)).toEqual(waves);
});

/** Returns the steps that share prompts; each step is written `worker` or `worker<visible steps`. */
const sharing = (...steps: string[]): number[] => {
  const plan = {
    steps: steps.map((step) => {
      const [worker = '', sees = ''] = step.split('<');
      return { worker, subtask: '', sees: Array.from(sees, Number) };
    }),
  };
  return [...stepsSharingPrompts(plan)].sort();
};

test.each<[string, string[], number[]]>([
  ['a single step', ['a'], []],
  ['one worker after the other', ['a', 'b<0'], []],
  ['a worker that comes again', ['a', 'b<0', 'a<1'], [0, 2]],
  ['steps of one worker that begin at the same time', ['a', 'a', 'b<01'], []],
  ['such steps before one of the same worker: the first alone is written', ['a', 'a', 'a<01'], [0, 2]],
  ['a worker that comes again and again', ['a', 'a<0', 'a<1', 'b'], [0, 1, 2]],
  ['several later ones', ['a', 'a<0', 'a<0'], [0, 1, 2]],
])('shared prompts of %s', (_, steps, expected) => {
  expect(sharing(...steps)).toEqual(expected);
});

test('shared prompts are found at once for fifty steps that each see all earlier ones', () => {
  const steps = Array.from({ length: 50 }, (_, index) => ({
    worker: index % 2 === 0 ? 'a' : 'b',
    subtask: '',
    sees: [...Array(index).keys()],
  }));
  expect(stepsSharingPrompts({ steps }).size).toBe(50);
});
