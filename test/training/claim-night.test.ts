import fc from 'fast-check';
import { type Claim, claimNight } from '../../src/training/activities/open-night';
import type { NightRecord, RunRecord } from '../../src/training/records';

const run = (done: number): RunRecord => ({ schema: 1, trainRun: 'run', done, checkpoint: null });
const night = (first: number, last: number, done: number, isClosed: boolean): NightRecord => ({
  schema: 1,
  trainRun: 'run',
  date: '2026-11-21',
  first,
  last,
  done,
  checkpoint: null,
  begun: null,
  train: { set: 'train', count: 1, topics: [1] },
  heldOut: { set: 'held-out', count: 1 },
  openedAt: 'then',
  closedAt: isClosed ? 'later' : null,
  decision: null,
});

const claim = (
  record: RunRecord | null,
  earlier: NightRecord | null,
  cycles: number,
  total = Infinity,
): Claim => claimNight(record, earlier, { cycles, total });

test('a night of a new date claims the next cycles', () => {
  expect(claim(null, null, 3)).toEqual({ first: 1, last: 3, done: 0, isTrained: false });
  expect(claim(run(7), null, 3)).toEqual({ first: 8, last: 10, done: 7, isTrained: false });
});

test.each([
  ['that was interrupted goes on where it was', run(2), night(1, 5, 2, false), false],
  ['whose gate was not asked yet is not over', run(5), night(1, 5, 5, false), false],
  ['that was trained to its end is not trained again', run(5), night(1, 5, 5, true), true],
  ['that was stopped goes on with what it left', run(2), night(1, 5, 2, true), false],
  ['that was stopped has nothing left once a later one has trained it', run(3), night(1, 5, 2, true), true],
  ['that was interrupted has nothing left either', run(3), night(1, 5, 2, false), true],
])('a night %s', (_, record, earlier, isTrained) => {
  const { first, last, done } = earlier;
  expect(claim(record, earlier, 3)).toEqual({ first, last, done, isTrained });
});

test('a night that has trained nothing yet goes on after what was trained since', () => {
  const earlier = night(3, 4, 2, false);
  expect(claim(run(2), earlier, 9)).toEqual({ first: 3, last: 4, done: 2, isTrained: false });
  expect(claim(run(7), earlier, 9)).toEqual({ first: 8, last: 9, done: 7, isTrained: false });
});

test('no night claims more than the run may have in all', () => {
  expect(claim(run(180), null, 30, 200)).toEqual({ first: 181, last: 200, done: 180, isTrained: false });
  expect(claim(run(190), night(171, 200, 170, false), 30, 200)).toMatchObject({ first: 191, last: 200 });
});

test('however nights end, and in whichever order, no cycle is trained twice and none is left out', () => {
  const nights = fc.record({
    date: fc.nat(3),
    cycles: fc.integer({ min: 1, max: 5 }),
    trained: fc.nat(5),
    isClosed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(nights, { maxLength: 12 }), (wishes) => {
      const records = new Map<number, NightRecord>();
      const trained: number[] = [];
      for (const { date, cycles, trained: most, isClosed } of wishes) {
        const claimed = claim(run(trained.length), records.get(date) ?? null, cycles);
        if (claimed.isTrained) continue;
        const done = Math.min(claimed.last, claimed.done + most);
        trained.push(...cyclesAfter(claimed, done));
        records.set(date, night(claimed.first, claimed.last, done, isClosed));
      }
      expect(trained).toEqual(trained.map((_, index) => index + 1));
    }),
  );
});

function cyclesAfter({ done }: Claim, last: number): number[] {
  return Array.from({ length: last - done }, (_, index) => done + 1 + index);
}
