import * as fc from 'fast-check';
import { drawBalanced } from '../../../src/evaluation/data/split';

const candidate = fc
  .record({
    id: fc.uuid(),
    source: fc.constantFrom('MATH', 'MMLU', 'RLPR'),
    topic: fc.constantFrom('a', 'b', ''),
  })
  .map((each) => ({ ...each, place: each.id }));
const candidates = fc.uniqueArray(candidate, { selector: ({ id }) => id, maxLength: 60 });
const counts = fc.tuple(fc.nat(30), fc.nat(30));

const idsOf = (drawn: ReadonlyMap<string, string>, part: string): string[] =>
  [...drawn].filter(([, name]) => name === part).map(([id]) => id);

const trainAndTest = (train: number, test: number) => [
  { name: 'train', count: train },
  { name: 'test', count: test },
];
const numbered = <More>(length: number, more: (id: number) => More) =>
  Array.from({ length }, (_, id) => ({ id: `${id}`, place: `${id}`, ...more(id) }));

test('parts get as many questions as they ask for, as long as there are any', () => {
  fc.assert(
    fc.property(candidates, counts, fc.nat(), (all, [train, test], seed) => {
      const parts = trainAndTest(train, test);
      const drawn = drawBalanced(all, parts, seed);
      expect(drawn.size).toBe(Math.min(all.length, train + test));
      for (const { name, count } of parts) expect(idsOf(drawn, name).length).toBeLessThanOrEqual(count);
    }),
  );
});

test('a part takes as many questions from one source as from another that is not used up', () => {
  fc.assert(
    fc.property(candidates, fc.nat(60), fc.nat(), (all, count, seed) => {
      const drawn = drawBalanced(all, [{ name: 'train', count }], seed);
      const taken = (source: string, part: string | undefined): number =>
        all.filter((each) => each.source === source && drawn.get(each.place) === part).length;
      for (const one of ['MATH', 'MMLU', 'RLPR']) {
        for (const other of ['MATH', 'MMLU', 'RLPR']) {
          if (taken(one, undefined) > 0)
            expect(taken(other, 'train')).toBeLessThanOrEqual(taken(one, 'train') + 1);
        }
      }
    }),
  );
});

test('each part has its share of each source', () => {
  const all = numbered(90, (id) => ({ source: `${id % 3}`, topic: `${id % 10}` }));
  const parts = trainAndTest(30, 15);
  const drawn = drawBalanced(all, parts, 1);
  for (const { name, count } of parts) {
    for (const source of ['0', '1', '2']) {
      const own = idsOf(drawn, name).filter((id) => `${Number(id) % 3}` === source);
      expect(Math.abs(own.length - count / 3)).toBeLessThanOrEqual(1);
    }
  }
});

test('the draw depends on the seed and the ids, not on the order', () => {
  fc.assert(
    fc.property(candidates, fc.nat(), (all, seed) => {
      const parts = trainAndTest(10, 5);
      const reversed = all.toReversed();
      const [one, other] = [drawBalanced(all, parts, seed), drawBalanced(reversed, parts, seed)];
      for (const { name } of parts) expect(idsOf(one, name).sort()).toEqual(idsOf(other, name).sort());
    }),
  );
  const all = numbered(100, () => ({ source: 's', topic: '' }));
  const draw = (seed: number): string[] =>
    idsOf(drawBalanced(all, [{ name: 'train', count: 10 }], seed), 'train');
  expect(draw(1)).not.toEqual(draw(2));
});
