import fc from 'fast-check';
import { claimedAfter, claimNight } from '../../src/training/claim-night';
import type { NightRecord, RunRecord } from '../../src/training/records';

const run = (claimed: number): RunRecord => ({ schema: 1, trainRun: 'run', claimed, checkpoint: null });
const night = (first: number, last: number, done: number, isClosed: boolean): NightRecord => ({
  schema: 1,
  trainRun: 'run',
  date: '2026-11-21',
  first,
  last,
  done,
  checkpoint: null,
  train: { set: 'train', count: 1 },
  heldOut: { set: 'held-out', count: 1 },
  openedAt: 'then',
  closedAt: isClosed ? 'later' : null,
  decision: null,
});

test('a night of a new date claims the next cycles', () => {
  expect(claimNight(null, null, 3)).toEqual({ first: 1, last: 3, done: 0, isTrained: false });
  expect(claimNight(run(7), null, 3)).toEqual({ first: 8, last: 10, done: 7, isTrained: false });
});

test.each([
  ['that was interrupted goes on where it was', run(5), night(1, 5, 2, false), false],
  ['whose gate was not asked yet is not over', run(5), night(1, 5, 5, false), false],
  ['that was trained to its end is not trained again', run(5), night(1, 5, 5, true), true],
  ['that was stopped goes on with what it left', run(2), night(1, 5, 2, true), false],
  ['that was stopped has nothing left once a later one has claimed it', run(4), night(1, 5, 2, true), true],
  ['that was interrupted has nothing left once a later one went on', run(8), night(1, 5, 2, false), true],
])('a night %s', (_, record, earlier, isTrained) => {
  const { first, last, done } = earlier;
  expect(claimNight(record, earlier, 3)).toEqual({ first, last, done, isTrained });
});

test('whatever nights do, no cycle is trained twice and none is left out for ever', () => {
  const wishes = fc.array(fc.record({ cycles: fc.integer({ min: 1, max: 5 }), done: fc.nat(5) }), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(wishes, (nights) => {
      let record = run(0);
      const trained: number[] = [];
      for (const { cycles, done } of nights) {
        const claim = claimNight(record, null, cycles);
        const last = Math.min(claim.last, claim.done + done);
        for (let cycle = claim.first; cycle <= last; cycle += 1) trained.push(cycle);
        record = run(claim.last);
        record = run(claimedAfter(record, night(claim.first, claim.last, last, true)));
      }
      expect(trained).toEqual(trained.map((_, index) => index + 1));
    }),
  );
});
