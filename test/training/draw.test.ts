import fc from 'fast-check';
import type { TrainingSettings } from '../../src/training/config';
import { chooseGroups, drawQuestions, drawTrials, drawWorkers, sortByTopic } from '../../src/training/draw';
import { externalCard } from '../budget/cards';

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

test('further draws of a cycle only append, and ask other questions as long as there are any', () => {
  fc.assert(
    fc.property(sources, fc.integer({ min: 0, max: 60 }), (source, draws) => {
      const more = drawQuestions(source, draws + 7);
      expect(more).toHaveLength(draws + 7);
      expect(drawQuestions(source, draws)).toEqual(more.slice(0, draws));
      const own = new Set(drawQuestions(source, source.questions));
      const others = sizeOf(source) - own.size;
      const drawn = drawQuestions(source, source.questions + others).slice(source.questions);
      expect(new Set(drawn).size).toBe(others);
      for (const index of drawn) expect(own.has(index)).toBe(false);
    }),
  );
});

test('each epoch, each cycle with further draws and each seed has its own order', () => {
  const source = { seed: 1, topics: [50], questions: 50, cycle: 1 };
  const sources = [source, { ...source, cycle: 2 }, { ...source, seed: 2 }];
  const drawn = sources.map((each) => drawQuestions(each, 100));
  const orders = drawn.flatMap((draws) => [draws.slice(0, 50), draws.slice(50)]);
  expect(new Set(orders.map((order) => order.join())).size).toBe(6);
});

test('each topic has its share of every cycle', () => {
  fc.assert(
    fc.property(sources, (source) => {
      const { topics, questions } = source;
      const size = sizeOf(source);
      // Stays within an epoch, since the order starts anew at its end.
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

test('questions are sorted by topic, in their own order', () => {
  const rows = [{ topic: 'law' }, {}, { topic: 'code' }, { topic: 'law' }, {}].map((row, id) => ({
    id,
    ...row,
  }));
  const { questions, topics } = sortByTopic(rows);
  expect(questions.map(({ id }) => id)).toEqual([0, 3, 1, 4, 2]);
  expect(topics).toEqual([2, 2, 1]);
});

const names = ['a', 'b', 'c', 'd', 'e'];
/** Workers of which each has all others as fallbacks. */
const workers = names.map((id) => ({
  ...externalCard(id),
  fallback: names.filter((other) => other !== id),
}));

const fixed: TrainingSettings['pool'] = { adaptive: false, least: 2, permuteIds: false, heldOut: [] };
const drawOf = (cycle: number, pool = fixed) => drawWorkers(workers, { seed: 5, cycle, draw: 0, pool });
const idsOf = (cycle: number, pool = fixed): string[] => drawOf(cycle, pool).map(({ id }) => id);

test('a fixed pool is the configured one; an adaptive pool has every size from the least to all, in order', () => {
  expect(drawOf(1)).toEqual(workers);
  const sizes = new Map<number, number>();
  for (let cycle = 1; cycle <= 400; cycle++) {
    const ids = idsOf(cycle, { ...fixed, adaptive: true });
    expect(ids).toEqual(names.filter((id) => ids.includes(id)));
    sizes.set(ids.length, (sizes.get(ids.length) ?? 0) + 1);
  }
  expect([...sizes.keys()].toSorted()).toEqual([2, 3, 4, 5]);
  for (const count of sizes.values()) expect(Math.abs(count - 100)).toBeLessThan(45);
});

test('a held-out team is never drawn, and every other one is', () => {
  const teams = fc.array(fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }));
  fc.assert(
    fc.property(teams, fc.boolean(), fc.integer({ min: 1 }), (heldOut, permuteIds, cycle) => {
      const ids = idsOf(cycle, { adaptive: true, least: 1, permuteIds, heldOut });
      expect(heldOut.map(keyOf)).not.toContain(keyOf(ids));
    }),
  );
  const heldOut = [
    ['e', 'a'],
    ['b', 'c'],
    ['a', 'b', 'c', 'd'],
  ];
  const pool = { adaptive: true, least: 2, permuteIds: true, heldOut };
  const drawn = Array.from({ length: 1500 }, (_, cycle) => idsOf(cycle, pool));
  expect(new Set(drawn.map(keyOf)).size).toBe(26 - heldOut.length);
  // Draws that would not have hit a held-out team are unchanged.
  const open = drawn.map((_, cycle) => idsOf(cycle, { ...pool, heldOut: [] }));
  const held = new Set(heldOut.map(keyOf));
  expect(
    open.filter((team, cycle) => !held.has(keyOf(team)) && team.join() !== drawn[cycle]?.join()),
  ).toEqual([]);
});

function keyOf(team: readonly string[]): string {
  return team.toSorted().join();
}

test('a fallback outside the drawn pool is not asked', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.boolean(), (cycle, permuteIds) => {
      const drawn = drawOf(cycle, { ...fixed, adaptive: true, least: 1, permuteIds });
      for (const { id, fallback } of drawn) {
        expect([id, ...fallback].toSorted()).toEqual(drawn.map((other) => other.id).toSorted());
      }
    }),
  );
});

test('with permuted ids each worker gets each ordinal, and each draw of a cycle has its own workers', () => {
  const permuted = { ...fixed, permuteIds: true };
  expect(new Set(Array.from({ length: 60 }, (_, cycle) => idsOf(cycle, permuted)[0]))).toEqual(
    new Set(names),
  );
  const pool = { ...fixed, adaptive: true, least: 1, permuteIds: true };
  const drawn = Array.from({ length: 20 }, (_, draw) =>
    drawWorkers(workers, { seed: 5, cycle: 1, draw, pool }),
  );
  expect(drawn[0]).toEqual(drawOf(1, pool));
  expect(new Set(drawn.map((each) => each.map(({ id }) => id).join())).size).toBeGreaterThan(10);
});

test('a policy is tried on each question with all workers, and with drawn teams too if the pool is adaptive', () => {
  const questions = [0, 5].map((index) => ({ set: 'held-out', index }));
  const trialsOf = (pool: TrainingSettings['pool']) =>
    drawTrials(questions, { seed: 5, pool, workers, count: 8 });
  expect(trialsOf(fixed)).toEqual([
    { draw: 0, question: questions[0], workers },
    { draw: 5, question: questions[1], workers },
  ]);
  const adaptive = { ...fixed, adaptive: true };
  const [, , ...drawn] = trialsOf(adaptive);
  expect(drawn.map(({ draw, question }) => [draw, question])).toEqual([
    [8, questions[0]],
    [13, questions[1]],
  ]);
  expect(drawn.map((trial) => trial.workers)).toEqual(
    [8, 13].map((draw) => drawWorkers(workers, { seed: 5, cycle: 0, draw, pool: adaptive })),
  );
});

/**
 * Draws groups until the choice is over.
 *
 * @param good whether each draw's group has a spread
 * @param next returns the index of the group that finishes next, given how many are under way
 */
function play(wanted: number, good: readonly boolean[], next: (underWay: number) => number): number[] {
  const spreads: (boolean | null)[] = [];
  const underWay: number[] = [];
  const choose = (): ReturnType<typeof chooseGroups> => {
    const choice = chooseGroups({ questions: wanted, maxDraws: good.length }, spreads);
    for (let started = 0; started < choice.more; started++) {
      underWay.push(spreads.length);
      spreads.push(null);
    }
    return choice;
  };
  let choice = choose();
  while (underWay.length > 0) {
    const [draw = NaN] = underWay.splice(next(underWay.length), 1);
    spreads[draw] = good[draw] ?? false;
    choice = choose();
  }
  return [spreads.length, ...choice.keep];
}

test('the shortest run of draws with enough groups is made, whatever finishes first', () => {
  const games = fc.record({
    wanted: fc.integer({ min: 1, max: 8 }),
    good: fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }),
    luck: fc.infiniteStream(fc.nat()),
  });
  fc.assert(
    fc.property(games, ({ wanted, good, luck }) => {
      const [made, ...keep] = play(wanted, good, (underWay) => Number(luck.next().value) % underWay);
      const all = good.flatMap((isGood, draw) => (isGood ? [draw] : []));
      const last = all[wanted - 1];
      expect(keep).toEqual(all.slice(0, wanted));
      expect(made).toBe(last === undefined ? good.length : Math.max(last + 1, Math.min(wanted, good.length)));
    }),
  );
});

test('starts no group that may turn out to be unneeded', () => {
  const four = { questions: 4, maxDraws: 9 };
  expect(chooseGroups(four, [])).toEqual({ keep: [], more: 4 });
  expect(chooseGroups(four, [null, false, true, null])).toEqual({ keep: [2], more: 1 });
  expect(chooseGroups({ questions: 2, maxDraws: 3 }, [false, true, false])).toEqual({ keep: [1], more: 0 });
});
