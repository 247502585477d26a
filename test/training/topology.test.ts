import fc from 'fast-check';
import { topologyOf } from '../../src/training/summarize-cycle';

const planOf = (...sees: readonly (readonly number[])[]) => ({
  steps: sees.map((seen) => ({ worker: 'w', subtask: '', sees: seen })),
});

test.each([
  ['one step', planOf([]), 'single'],
  ['two in a row', planOf([], [0]), 'chain'],
  ['a row in which everybody sees all before', planOf([], [0], [0, 1], [0, 1, 2]), 'chain'],
  ['nobody sees anybody', planOf([], [], []), 'parallel'],
  ['two attempts and a judge', planOf([], [], [0, 1]), 'tree'],
  ['a checked attempt, another one, and a judge', planOf([], [0], [], [1, 2]), 'tree'],
  ['the same, where the judge sees the checked attempt, too', planOf([], [0], [], [0, 1, 2]), 'tree'],
  ['one plan for two who carry it out, and a judge', planOf([], [0], [0], [1, 2]), 'other'],
  ['an output that nobody uses', planOf([], [], [1]), 'other'],
  ['a judge who judges nothing', planOf([], [0], []), 'other'],
  ['nothing: the answer at hand is accepted', planOf(), null],
])('%s', (_, plan, expected) => {
  expect(topologyOf(plan)).toBe(expected);
});

test('what a step sees through another one already does not change the shape', () => {
  const graphs = fc.array(fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(graphs, (rows) => {
      const sees = rows.map((row, index) =>
        row.slice(0, index).flatMap((seen, step) => (seen ? [step] : [])),
      );
      const reach: number[][] = [];
      for (const seen of sees) {
        const all = new Set([...seen, ...seen.flatMap((step) => reach[step] ?? [])]);
        reach.push([...all].toSorted((a, b) => a - b));
      }
      expect(topologyOf(planOf(...reach))).toBe(topologyOf(planOf(...sees)));
    }),
  );
});
