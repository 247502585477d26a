import fc from 'fast-check';
import { planWaves } from '../../src/plan/plan';

const planOf = (...sees: number[][]) => ({
  steps: sees.map((seen) => ({ worker: 'w', subtask: '', sees: seen })),
});

test.each([
  ['no steps', planOf(), []],
  ['independent attempts and a judge', planOf([], [], [0, 1]), [0, 0, 1]],
  ['a chain', planOf([], [0], [1]), [0, 1, 2]],
  ['a step that depends on an early one only', planOf([], [0], [0], [1], []), [0, 1, 1, 2, 0]],
])('%s', (_, plan, waves) => {
  expect(planWaves(plan)).toEqual(waves);
});

test('a step is in the first wave after all that it sees', () => {
  const graphs = fc.array(fc.array(fc.boolean(), { maxLength: 8 }), { maxLength: 8 });
  fc.assert(
    fc.property(graphs, (rows) => {
      const sees = rows.map((row, index) =>
        row.slice(0, index).flatMap((seen, step) => (seen ? [step] : [])),
      );
      const waves = planWaves(planOf(...sees));
      for (const [index, seen] of sees.entries()) {
        const latest = seen.map((step) => waves[step] ?? NaN);
        expect(waves[index]).toBe(latest.length === 0 ? 0 : Math.max(...latest) + 1);
      }
    }),
  );
});
