import fc from 'fast-check';
import type { RunLimits } from '../../src/protocol/cards';
import {
  allowsModel,
  findLimitExcess,
  lowerLimits,
  mayPlan,
  mostOf,
  rightsIn,
} from '../../src/protocol/rights';
import { runOf } from '../budget/cards';

const { limits } = runOf([]);

test.each([
  [null, 'anything', true],
  [[], 'anything', false],
  [['gpt', 'worker/*'], 'worker/sonnet', true],
  [['gpt', 'worker/*'], 'worker', false],
  [['gpt', 'worker/*'], 'gpt', true],
  [['gpt', 'worker/*'], 'gpt-5', false],
  [['*'], 'anything', true],
])('models %j allow %s: %p', (models, model, isAllowed) => {
  expect(allowsModel(models, model)).toBe(isAllowed);
});

test.each([
  [null, {}, true],
  [['conductor'], {}, true],
  [['conductor'], { checkpoint: 'night/000001' }, false],
  [['conductor/night/*'], { checkpoint: 'night/000001' }, true],
  [['conductor/night/*'], {}, false],
  [['conductor'], { name: 'large' }, false],
  [['worker/*'], {}, false],
])('who has models %j may have the Conductor %j asked: %p', (models, conductor, isAllowed) => {
  const rights = { models, limits: { ...limits, depth: 3 } };
  expect(mayPlan({ rights, conductor })).toBe(isAllowed);
  expect(mostOf({ rights, conductor })?.depth).toBe(isAllowed ? 3 : 0);
});

const whole = fc.integer({ min: 1, max: 9 });
const orNone = fc.oneof(whole, fc.constant(null));
const anyLimits: fc.Arbitrary<RunLimits> = fc.record({
  ...{ steps: whole, calls: whole, wallClockMs: whole, approvalMs: whole },
  ...{ depth: orNone, tokens: orNone, nanoUsd: orNone },
});

test('the lower of two limits is within both, and each limit is one of the two', () => {
  fc.assert(
    fc.property(anyLimits, anyLimits, (one, other) => {
      const lower = lowerLimits(one, other);
      expect([findLimitExcess(lower, one), findLimitExcess(lower, other)]).toEqual([null, null]);
      for (const name of Object.keys(lower) as (keyof RunLimits)[]) {
        expect([one[name], other[name]]).toContain(lower[name]);
      }
    }),
  );
});

test('a change is above the limits exactly if it holds one that lowering would alter', () => {
  fc.assert(
    fc.property(anyLimits, anyLimits, (change, most) => {
      const isWithin =
        JSON.stringify(lowerLimits(change, most)) === JSON.stringify(lowerLimits(change, change));
      expect(findLimitExcess(change, most) === null).toBe(isWithin);
    }),
  );
});

test.each([
  [{ nanoUsd: 2_500_000_000 }, 'costUsd is 2.5, and this key may set at most 1.5: '],
  [{ nanoUsd: null }, 'costUsd is no limit, and this key may set at most 1.5: '],
  [{ calls: 41 }, 'calls is 41, and this key may set at most 40: '],
])('the sentence on %j says by whom it can be raised', (change, sentence) => {
  const told = findLimitExcess(change, { ...limits, nanoUsd: 1_500_000_000 });
  expect(told).toBe(`${sentence}ask for less, or have the operator raise it`);
});

test('an unchecked input has no rights unless they can be read', () => {
  const rights = { models: ['conductor'], limits };
  expect(rightsIn({ question: 'Who?', rights })).toEqual({ rights });
  const unfit = [null, 5, 'x', [], {}, { models: 5, limits }, { models: [5], limits }, { models: null }];
  for (const each of unfit) expect(rightsIn({ rights: each })).toEqual({});
  for (const input of [null, undefined, 5, []]) expect(rightsIn(input)).toEqual({});
});
