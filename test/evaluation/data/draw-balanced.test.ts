import * as fc from 'fast-check';
import { type Candidate, drawBalanced } from '../../../src/evaluation/data/draw-balanced';

const candidate = fc.record({
  id: fc.uuid(),
  source: fc.constantFrom('MATH', 'MMLU', 'RLPR'),
  topic: fc.constantFrom('a', 'b', ''),
});
const candidates = fc.uniqueArray(candidate, { selector: ({ id }) => id, maxLength: 60 });
const counts = fc.tuple(fc.nat(30), fc.nat(30));

const idsOf = (all: readonly Candidate[], drawn: readonly (string | null)[], part: string): string[] =>
  all.filter((_, index) => drawn[index] === part).map(({ id }) => id);

test('each part has as many as it asks for, as long as there are any', () => {
  fc.assert(
    fc.property(candidates, counts, fc.nat(), (all, [train, test], seed) => {
      const parts = [
        { name: 'train', count: train },
        { name: 'test', count: test },
      ];
      const drawn = drawBalanced(all, parts, seed);
      expect(drawn.filter((part) => part !== null)).toHaveLength(Math.min(all.length, train + test));
      for (const { name, count } of parts) expect(idsOf(all, drawn, name).length).toBeLessThanOrEqual(count);
    }),
  );
});

test('a part has as many of one source as of another that is not used up', () => {
  fc.assert(
    fc.property(candidates, fc.nat(60), fc.nat(), (all, count, seed) => {
      const drawn = drawBalanced(all, [{ name: 'train', count }], seed);
      const taken = (source: string, part: string | null): number =>
        all.filter((each, index) => each.source === source && drawn[index] === part).length;
      for (const one of ['MATH', 'MMLU', 'RLPR']) {
        for (const other of ['MATH', 'MMLU', 'RLPR']) {
          if (taken(one, null) > 0)
            expect(taken(other, 'train')).toBeLessThanOrEqual(taken(one, 'train') + 1);
        }
      }
    }),
  );
});

test('the seed and the ids decide, not the order', () => {
  fc.assert(
    fc.property(candidates, fc.nat(), (all, seed) => {
      const parts = [
        { name: 'train', count: 10 },
        { name: 'test', count: 5 },
      ];
      const reversed = all.toReversed();
      const [one, other] = [drawBalanced(all, parts, seed), drawBalanced(reversed, parts, seed)];
      for (const { name } of parts)
        expect(idsOf(all, one, name).sort()).toEqual(idsOf(reversed, other, name).sort());
    }),
  );
  const all = Array.from({ length: 100 }, (_, id) => ({ id: String(id), source: 's', topic: '' }));
  const draw = (seed: number): string[] =>
    idsOf(all, drawBalanced(all, [{ name: 'train', count: 10 }], seed), 'train');
  expect(draw(1)).not.toEqual(draw(2));
});
