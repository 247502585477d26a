import fc from 'fast-check';
import type { PlanExample } from '../../../src/plan/plan';
import { chooseVaried } from '../../../src/training/client';

const example = (question: string, workers: string): PlanExample => ({
  question,
  reasoning: '',
  plan: { steps: Array.from(workers, (worker) => ({ worker, subtask: 'Go.', sees: [] })) },
});
const namesOf = (examples: readonly PlanExample[]): string[] => examples.map(({ question }) => question);

test('chooses examples of different lengths first, then of different workers, the shortest plan first', () => {
  const found = [
    example('one', '0'),
    example('one more', '0'),
    example('two of one', '00'),
    example('two', '12'),
    example('three', '012'),
    example('another one', '3'),
  ];
  expect(namesOf(chooseVaried(found, 1))).toEqual(['three']);
  expect(namesOf(chooseVaried(found, 4))).toEqual(['another one', 'one', 'two of one', 'three']);
  expect(namesOf(chooseVaried(found, 9))).toHaveLength(6);
});

test('chooses as many lengths as possible, and each example once', () => {
  const team = fc.string({ unit: fc.constantFrom('0', '1', '2'), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(team, { maxLength: 12 }), fc.nat(6), (teams, count) => {
      const found = teams.map((workers, place) => example(`${place}`, workers));
      const chosen = chooseVaried(found, count);
      expect(new Set(namesOf(chosen)).size).toBe(Math.min(count, found.length));
      const lengths = new Set(found.map(({ plan }) => plan.steps.length)).size;
      expect(new Set(chosen.map(({ plan }) => plan.steps.length)).size).toBe(Math.min(lengths, count));
    }),
  );
});
