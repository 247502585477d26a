import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { Account } from '../../src/budget/account';
import { describeLimit, type LimitRefusal } from '../../src/budget/amount';
import { callOf, type Request } from './books';

const LIMITS = { calls: 20, tokens: 1000, nanoUsd: 1000 };
const WORST = { tokens: 100, nanoUsd: 100 };
const billed = (tokens: number, nanoUsd: number): Request => ({ tokens, nanoUsd, told: 'all' });
const unheard: Request = { tokens: 1, nanoUsd: 1, told: 'nothing' };
const free: Request = { tokens: 0, nanoUsd: 0, told: 'free' };

/** Returns what was set aside, which must not be refused. */
function granted<Granted extends object>(answer: Granted | LimitRefusal): Granted {
  if ('mayFitLater' in answer) throw new Error(`refused: ${describeLimit(answer)}`);
  return answer;
}

describe('reserve', () => {
  test.each([
    ['usually five requests, two of them billed', LIMITS, { requests: 5, billable: 2 }],
    ['money for one only', { ...LIMITS, nanoUsd: 199 }, { requests: 5, billable: 1 }],
    ['tokens for one only', { ...LIMITS, tokens: 199 }, { requests: 5, billable: 1 }],
    ['three calls', { ...LIMITS, calls: 3 }, { requests: 3, billable: 2 }],
    ['one call', { ...LIMITS, calls: 1 }, { requests: 1, billable: 1 }],
    ['nothing but calls', { calls: 9, tokens: null, nanoUsd: null }, { requests: 5, billable: 2 }],
  ])('%s', (_, limits, allowance) => {
    expect(new Account(limits).reserve(WORST)).toMatchObject({ allowance });
  });

  test('concurrent steps cannot exceed a limit together; the last may fit once another is done', () => {
    const account = new Account({ ...LIMITS, nanoUsd: 250 });
    const one = granted(account.reserve(WORST));
    expect(one.allowance.billable).toBe(2);
    expect(account.reserve(WORST)).toEqual({ limit: 'cost', needed: 100, left: 50, mayFitLater: true });
    one.settle([callOf(billed(30, 30))]);
    expect(account.reserve(WORST)).toMatchObject({ allowance: { billable: 2 } });
  });

  test('a limit that waiting cannot resolve is named first', () => {
    const account = new Account({ calls: 5, tokens: 1000, nanoUsd: 150 });
    account.reserve({ tokens: 10, nanoUsd: 10 });
    const refusal = account.reserve({ tokens: 10, nanoUsd: 200 });
    expect(refusal).toMatchObject({ limit: 'cost', mayFitLater: false });
  });

  test('a free call is admitted when the money is gone, and a call without a price is not', () => {
    const account = new Account({ ...LIMITS, nanoUsd: 100 });
    granted(account.reserve({ tokens: 1, nanoUsd: null })).settle([callOf(billed(1, 170))]);
    expect(account.reserve({ tokens: 1, nanoUsd: 0 })).toMatchObject({ allowance: { billable: 2 } });
    expect(account.reserve({ tokens: 1, nanoUsd: null })).toMatchObject({ limit: 'cost', left: 0 });
  });
});

describe('settle', () => {
  test.each<[string, Request, { tokens: number; nanoUsd: number }]>([
    ['all is known', billed(40, 60), { tokens: 40, nanoUsd: 60 }],
    ['nothing is known', unheard, WORST],
    ['the cost is unknown', { tokens: 40, nanoUsd: 60, told: 'tokens' }, { tokens: 40, nanoUsd: 100 }],
    ['the tokens are unknown', { tokens: 40, nanoUsd: 60, told: 'cost' }, { tokens: 100, nanoUsd: 60 }],
    ['it was free', free, { tokens: 0, nanoUsd: 0 }],
    ['more was used than could be', billed(400, 600), { tokens: 400, nanoUsd: 600 }],
  ])('counts a request of which %s', (_, request, counted) => {
    const account = new Account(LIMITS);
    granted(account.reserve(WORST)).settle([callOf(request)]);
    expect(account.spentAtMost).toEqual({ calls: 1, ...counted });
    expect(account.committed).toEqual(account.spentAtMost);
  });
});

test('a model that exceeded its worst case has as much set aside from then on', () => {
  const account = new Account(LIMITS);
  const worst = { ...WORST, model: 'thinker' };
  granted(account.reserve(worst)).settle([callOf(billed(400, 300))]);
  const later = granted(account.reserve(worst));
  expect(account.committed).toEqual({ calls: 6, tokens: 800, nanoUsd: 600 });
  later.settle([callOf(billed(10, 10))]);
  expect(account.reserve({ ...WORST, model: 'other' })).toMatchObject({ allowance: { billable: 2 } });
  expect(account.reserve(worst)).toMatchObject({ limit: 'tokens', needed: 400 });
});

describe('a share for a child', () => {
  test('is a fraction of what is left, rounded down, and held until the child is done', () => {
    const account = new Account({ calls: 10, tokens: 100, nanoUsd: null });
    const child = granted(account.share(3));
    expect(child.limits).toEqual({ calls: 3, tokens: 33, nanoUsd: null });
    expect(account.share(1)).toMatchObject({ limits: { calls: 7, tokens: 67, nanoUsd: null } });
    expect(account.reserve(WORST)).toMatchObject({ limit: 'calls', mayFitLater: true });
    child.settle({ calls: 1, tokens: 20, nanoUsd: 5 });
    expect(account.spentAtMost).toEqual({ calls: 1, tokens: 20, nanoUsd: 5 });
    expect(account.committed).toMatchObject({ calls: 8, tokens: 87 });
  });

  test('is at least one call and one token, and refused if none is left', () => {
    const account = new Account({ calls: 2, tokens: 2, nanoUsd: 0 });
    expect(account.share(5)).toMatchObject({ limits: { calls: 1, tokens: 1, nanoUsd: 0 } });
    expect(account.share(5)).toMatchObject({ limits: { calls: 1, tokens: 1, nanoUsd: 0 } });
    expect(account.share(5)).toEqual({ limit: 'calls', needed: 1, left: 0, mayFitLater: true });
  });

  test('counts in full if the child vanished; an unlimited amount counts as 0', () => {
    const account = new Account({ calls: 10, tokens: 100, nanoUsd: null });
    granted(account.share(2)).settle(null);
    expect(account.spentAtMost).toEqual({ calls: 5, tokens: 50, nanoUsd: 0 });
  });
});

describe('setLimits', () => {
  test('keeps what was promised to calls under way, and then applies to new calls', () => {
    const account = new Account(LIMITS);
    const call = granted(account.reserve(WORST));
    account.setLimits({ calls: 2, tokens: 50, nanoUsd: 50 });
    expect(account.limits).toEqual({ calls: 5, tokens: 200, nanoUsd: 200 });
    call.settle([callOf(billed(60, 40))]);
    expect(account.limits).toEqual({ calls: 2, tokens: 60, nanoUsd: 50 });
    const refusal = account.reserve({ tokens: 1, nanoUsd: 1 });
    expect(refusal).toMatchObject({ limit: 'tokens', mayFitLater: false });
  });

  test('applies a new limit only once a child without that limit has ended', () => {
    const account = new Account({ ...LIMITS, nanoUsd: null });
    const child = granted(account.share(2));
    account.setLimits(LIMITS);
    expect(account.limits.nanoUsd).toBeNull();
    expect(account.reserve(WORST)).toMatchObject({ limit: 'cost', mayFitLater: true });
    child.settle({ calls: 1, tokens: 1, nanoUsd: 300 });
    expect(account.limits.nanoUsd).toBe(1000);
    expect(account.reserve(WORST)).toMatchObject({ allowance: { billable: 2 } });
  });
});

test('with an unknown price and sequential calls, at most one call exceeds the limit', () => {
  fc.assert(
    fc.property(fc.nat({ max: 500 }), fc.array(fc.nat({ max: 200 }), { minLength: 1 }), (limit, costs) => {
      const account = new Account({ calls: 200, tokens: null, nanoUsd: limit });
      for (const cost of costs) {
        const call = account.reserve({ tokens: 1, nanoUsd: null });
        if ('limit' in call) break;
        call.settle([callOf({ tokens: 1, nanoUsd: cost, told: 'all' })]);
      }
      expect(account.spentAtMost.nanoUsd).toBeLessThan(limit + Math.max(1, ...costs));
    }),
  );
});

test('a reservation or share that is given back twice fails the run, and says so', () => {
  const account = new Account(LIMITS);
  const [call, child] = [granted(account.reserve(WORST)), granted(account.share(2))];
  call.settle([]);
  child.settle(null);
  const again = [
    () => {
      call.settle([]);
    },
    () => {
      child.settle(null);
    },
  ];
  for (const misuse of again) {
    expect(misuse).toThrow(ApplicationFailure);
    expect(misuse).toThrow('given back already');
  }
});

test.each([
  [
    { limit: 'cost', needed: 81_234_567, left: 20_000_000, mayFitLater: false },
    'the next call may come to $0.0813, and limits.costUsd leaves $0.0200; raise limits.costUsd (--max-cost), or lower maxOutputTokens of its worker',
  ],
  [
    { limit: 'cost', needed: 1_500_000_001, left: 1_500_000_000, mayFitLater: true },
    'the next call may come to $1.51, and limits.costUsd leaves $1.50 until calls under way give back what they do not use; raise limits.costUsd (--max-cost), or lower maxOutputTokens of its worker',
  ],
  [
    { limit: 'tokens', needed: 8240, left: 2000, mayFitLater: false },
    'the next call may come to 8,240 tokens, and limits.tokens leaves 2,000 tokens; raise limits.tokens, or lower maxOutputTokens of its worker',
  ],
  [
    { limit: 'calls', needed: 1, left: 0, mayFitLater: false },
    'the next call may come to 1 request, and limits.calls leaves 0 requests; raise limits.calls',
  ],
] as const)('says what is needed, what is left, and what to do: %j', (refusal, sentence) => {
  expect(describeLimit(refusal)).toBe(sentence);
});
