import fc from 'fast-check';
import { drawQuestions } from '../../src/training/draw';

const sources = fc.record({
  seed: fc.integer({ min: 0 }),
  count: fc.integer({ min: 1, max: 30 }),
  questions: fc.integer({ min: 1, max: 12 }),
  cycle: fc.integer({ min: 1, max: 20 }),
});

test('every epoch asks each question once', () => {
  fc.assert(
    fc.property(sources, ({ seed, count, questions }) => {
      const cycles = Math.ceil((2 * count) / questions);
      const drawn = Array.from({ length: cycles }, (_, index) =>
        drawQuestions({ seed, count, questions, cycle: index + 1 }, questions),
      ).flat();
      const all = Array.from({ length: count }, (_, index) => index);
      expect(drawn.slice(0, count).toSorted((a, b) => a - b)).toEqual(all);
      expect(drawn.slice(count, 2 * count).toSorted((a, b) => a - b)).toEqual(all);
    }),
  );
});

test('more draws of a cycle only add to those it has', () => {
  fc.assert(
    fc.property(sources, fc.integer({ min: 0, max: 60 }), (source, draws) => {
      const more = drawQuestions(source, draws + 7);
      expect(more).toHaveLength(draws + 7);
      expect(drawQuestions(source, draws)).toEqual(more.slice(0, draws));
    }),
  );
});

test('a draw in place of a group without spread is another question, while there is one', () => {
  fc.assert(
    fc.property(sources, (source) => {
      const own = new Set(drawQuestions(source, source.questions));
      const others = source.count - own.size;
      const drawn = drawQuestions(source, source.questions + others).slice(source.questions);
      expect(new Set(drawn).size).toBe(others);
      for (const index of drawn) expect(own.has(index)).toBe(false);
    }),
  );
});

test('each epoch, each cycle that tops up and each seed has an order of its own', () => {
  const source = { seed: 1, count: 50, questions: 50, cycle: 1 };
  const drawn = [source, { ...source, cycle: 2 }, { ...source, seed: 2 }].map((each) =>
    drawQuestions(each, 100),
  );
  const orders = drawn.flatMap((draws) => [draws.slice(0, 50), draws.slice(50)]);
  expect(new Set(orders.map((order) => order.join())).size).toBe(6);
});
