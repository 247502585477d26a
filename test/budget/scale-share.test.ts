import fc from 'fast-check';
import { limitsOf, scaleShare } from '../../src/budget/amount';

const whole = fc.nat(1_000_000);
const orNone = fc.oneof(whole, fc.constant(Infinity));
const own = fc.record({ calls: whole, tokens: whole, nanoUsd: whole });
const share = fc.record({ calls: whole, tokens: orNone, nanoUsd: orNone });

test('children of changed limits never get more together than these leave, nor one more than it had', () => {
  fc.assert(
    fc.property(own, share, fc.array(share, { minLength: 1, maxLength: 5 }), (spent, bound, shared) => {
      const scaled = shared.map((each) =>
        scaleShare(limitsOf(each), limitsOf(bound), { own: spent, shared }),
      );
      for (const measure of ['calls', 'tokens', 'nanoUsd'] as const) {
        const [before, after] = [shared, scaled].map((all) => all.map((each) => each[measure] ?? Infinity));
        for (const [index, amount] of (after ?? []).entries())
          expect(amount).toBeLessThanOrEqual(before?.[index] ?? 0);
        const sum = (after ?? []).reduce((total, amount) => total + amount, 0);
        expect(sum).toBeLessThanOrEqual(Math.max(0, bound[measure] - spent[measure]));
      }
    }),
  );
});

test('a share without a limit becomes an equal part of what no other was promised', () => {
  const none = { calls: 10, tokens: null, nanoUsd: null };
  const open = { calls: 10, tokens: Infinity, nanoUsd: Infinity };
  const given = {
    own: { calls: 1, tokens: 100, nanoUsd: 0 },
    shared: [open, open, { calls: 10, tokens: 300, nanoUsd: 0 }],
  };
  const limits = { calls: 100, tokens: 1000, nanoUsd: null };
  expect(scaleShare(none, limits, given)).toEqual({ calls: 10, tokens: 300, nanoUsd: null });
});
