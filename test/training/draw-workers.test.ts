import fc from 'fast-check';
import type { RunWorker } from '../../src/protocol/cards';
import { drawTrials, drawWorkers } from '../../src/training/draw';
import type { TrainingSettings } from '../../src/training/config/resolve';

const names = ['a', 'b', 'c', 'd', 'e'];
/** Each may be stood in for by all others. */
const workers = names.map((id): RunWorker => ({
  kind: 'activity',
  id,
  type: 'ask',
  taskQueue: 'queue',
  timeoutMs: 1000,
  notes: null,
  fallback: names.filter((other) => other !== id),
}));

const fixed: TrainingSettings['pool'] = { adaptive: false, least: 2, permuteIds: false, heldOut: [] };
const drawOf = (cycle: number, pool = fixed) => drawWorkers(workers, { seed: 5, cycle, draw: 0, pool });
const idsOf = (cycle: number, pool = fixed): string[] => drawOf(cycle, pool).map(({ id }) => id);

test('a fixed pool is the configured one', () => {
  expect(drawOf(1)).toEqual(workers);
});

test('an adaptive pool has each size from the least to all, in the order of the configuration', () => {
  const sizes = new Map<number, number>();
  for (let cycle = 1; cycle <= 400; cycle++) {
    const ids = idsOf(cycle, { ...fixed, adaptive: true });
    expect(ids).toEqual(names.filter((id) => ids.includes(id)));
    sizes.set(ids.length, (sizes.get(ids.length) ?? 0) + 1);
  }
  expect([...sizes.keys()].toSorted()).toEqual([2, 3, 4, 5]);
  for (const count of sizes.values()) expect(Math.abs(count - 100)).toBeLessThan(45);
});

test('a team that is held out is never drawn, and every other one is', () => {
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
  const drawn = Array.from({ length: 1500 }, (_, cycle) =>
    keyOf(idsOf(cycle, { adaptive: true, least: 2, permuteIds: true, heldOut })),
  );
  expect(new Set(drawn).size).toBe(26 - heldOut.length);
});

test('what is held out changes nothing where it would not have been drawn', () => {
  const pool = { ...fixed, adaptive: true, least: 2, permuteIds: true };
  const heldOut = [['a', 'b']];
  for (let cycle = 1; cycle <= 200; cycle++) {
    const ids = idsOf(cycle, pool);
    if (keyOf(ids) !== 'a,b') expect(idsOf(cycle, { ...pool, heldOut })).toEqual(ids);
  }
});

function keyOf(team: readonly string[]): string {
  return team.toSorted().join();
}

test('a fallback that is not in the pool is not asked either', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.boolean(), (cycle, permuteIds) => {
      const drawn = drawOf(cycle, { ...fixed, adaptive: true, least: 1, permuteIds });
      for (const { id, fallback } of drawn) {
        expect([id, ...fallback].toSorted()).toEqual(drawn.map((other) => other.id).toSorted());
      }
    }),
  );
});

test('with permuted ids each worker has each ordinal now and then', () => {
  const firsts = new Set(
    Array.from({ length: 60 }, (_, cycle) => idsOf(cycle, { ...fixed, permuteIds: true })[0]),
  );
  expect(firsts).toEqual(new Set(names));
});

test('the same group has the same workers, another draw of its cycle has its own', () => {
  const pool = { ...fixed, adaptive: true, least: 1, permuteIds: true };
  const drawn = Array.from({ length: 20 }, (_, draw) =>
    drawWorkers(workers, { seed: 5, cycle: 1, draw, pool }),
  );
  expect(drawn[0]).toEqual(drawOf(1, pool));
  expect(new Set(drawn.map((each) => each.map(({ id }) => id).join())).size).toBeGreaterThan(10);
});

test('a least number beyond the pool means all of it', () => {
  expect(drawOf(1, { ...fixed, adaptive: true, least: 9, permuteIds: false })).toEqual(workers);
});

test('a policy is tried on each question with all workers, and one of an adaptive pool on drawn teams as well', () => {
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
