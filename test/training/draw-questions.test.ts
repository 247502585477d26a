import fc from 'fast-check';
import { drawQuestions, sortByTopic } from '../../src/training/draw';

const sources = fc.record({
  seed: fc.integer({ min: 0 }),
  topics: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
  questions: fc.integer({ min: 1, max: 12 }),
  cycle: fc.integer({ min: 1, max: 20 }),
});

const sizeOf = ({ topics }: { readonly topics: readonly number[] }): number =>
  topics.reduce((sum, count) => sum + count, 0);

test('every epoch asks each question once', () => {
  fc.assert(
    fc.property(sources, ({ seed, topics, questions }) => {
      const count = sizeOf({ topics });
      const cycles = Math.ceil((2 * count) / questions);
      const drawn = Array.from({ length: cycles }, (_, index) =>
        drawQuestions({ seed, topics, questions, cycle: index + 1 }, questions),
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
      const others = sizeOf(source) - own.size;
      const drawn = drawQuestions(source, source.questions + others).slice(source.questions);
      expect(new Set(drawn).size).toBe(others);
      for (const index of drawn) expect(own.has(index)).toBe(false);
    }),
  );
});

test('each epoch, each cycle that tops up and each seed has an order of its own', () => {
  const source = { seed: 1, topics: [50], questions: 50, cycle: 1 };
  const drawn = [source, { ...source, cycle: 2 }, { ...source, seed: 2 }].map((each) =>
    drawQuestions(each, 100),
  );
  const orders = drawn.flatMap((draws) => [draws.slice(0, 50), draws.slice(50)]);
  expect(new Set(orders.map((order) => order.join())).size).toBe(6);
});

test('each topic has its share of every cycle', () => {
  fc.assert(
    fc.property(sources, (source) => {
      const { topics, questions } = source;
      const size = sizeOf(source);
      // Within an epoch: at its end the turns begin anew.
      const cycle = 1 + (source.cycle % Math.max(1, Math.floor(size / questions)));
      const drawn = drawQuestions({ ...source, cycle }, Math.min(questions, size));
      let first = 0;
      for (const count of topics) {
        const from = first;
        first += count;
        const own = drawn.filter((index) => index >= from && index < from + count).length;
        const share = count / size;
        expect(Math.abs(own - share * drawn.length)).toBeLessThan(1 + share * topics.length);
      }
    }),
  );
});

test('of topics that are equally large, each cycle has equally many questions', () => {
  const source = { seed: 7, topics: [30, 30, 30, 30], questions: 8 };
  for (let cycle = 1; cycle <= 15; cycle += 1) {
    const drawn = drawQuestions({ ...source, cycle }, 8);
    expect(drawn.map((index) => Math.floor(index / 30)).toSorted()).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  }
});

test('questions of one topic lie together, in their order', () => {
  const rows = [{ topic: 'law' }, {}, { topic: 'code' }, { topic: 'law' }, {}].map((row, id) => ({
    id,
    ...row,
  }));
  const { questions, topics } = sortByTopic(rows);
  expect(questions.map(({ id }) => id)).toEqual([0, 3, 1, 4, 2]);
  expect(topics).toEqual([2, 2, 1]);
});
