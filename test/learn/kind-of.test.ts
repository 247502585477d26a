import { kindOf } from '../../examples/learn/world/chance';

test.each([
  ['Outline the steps.', 'plan'],
  ['1. compute both sums', 'solve'],
  ['**Verify** the plan above.', 'verify'],
  ['Polish it, then check it.', 'refine'],
  ['Think about the plan.', 'solve'],
  ['', 'solve'],
] as const)('"%s" asks a worker of the world to %s', (subtask, kind) => {
  expect(kindOf(subtask)).toBe(kind);
});
