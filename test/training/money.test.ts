import { array, assert, constantFrom, integer, nat, option, property, record } from 'fast-check';
import { costOfGate, NightMoney } from '../../src/training/money';

/** A person changes the budget, a group that is under way ends, or another one asks for money. */
interface Event {
  readonly kind: 'budget' | 'end' | 'begin';
  readonly who: number;
  /** What a group would spend, were there no limit. */
  readonly cost: number;
  /** What it spends at prices that nobody knows. */
  readonly unpriced: number;
  readonly budget: number | null;
}

const events = array(
  record<Event>({
    kind: constantFrom('begin', 'begin', 'begin', 'end', 'end', 'budget'),
    who: nat({ max: 1000 }),
    cost: nat({ max: 400 }),
    unpriced: constantFrom(0, 0, 0, 50),
    budget: option(nat({ max: 3000 })),
  }),
  { maxLength: 60 },
);

class SomeNight {
  readonly money = new NightMoney();
  private readonly underWay = new Map<string, { readonly cost: number; readonly unpriced: number }>();
  /** The most that was allowed at once, or promised before that was lowered. */
  private most = 0;
  private unpriced = 0;

  constructor(
    budget: number | null,
    readonly kept: number,
    private readonly side: number,
  ) {
    this.budget(budget);
  }

  /** Spent, and what the groups under way will have spent at their end, without what has no price. */
  private get spent(): number {
    return [...this.underWay.values()].reduce(
      (sum, { cost }) => sum + cost,
      this.money.spent - this.unpriced,
    );
  }

  happen(event: Event, key: string): void {
    if (event.kind === 'budget') this.budget(event.budget);
    else if (event.kind === 'end') this.end([...this.underWay.keys()][event.who % this.underWay.size]);
    else if (this.underWay.size < this.side) this.begin(key, event);
    expect(this.spent).toBeLessThanOrEqual(this.most);
  }

  endAll(): void {
    for (const key of [...this.underWay.keys()]) this.end(key);
  }

  private budget(nanoUsd: number | null): void {
    this.most = Math.max(this.spent, nanoUsd === null ? Infinity : nanoUsd - this.kept);
    this.money.allow(nanoUsd, this.kept);
  }

  private begin(key: string, { cost, unpriced }: Event): void {
    const share = this.money.reserve(key, this.side);
    if (share === undefined) return;
    this.underWay.set(key, { cost: Math.min(cost, share ?? Infinity), unpriced });
    if (share !== null && cost > share) this.money.runShort();
  }

  private end(key: string | undefined): void {
    const group = this.underWay.get(key ?? '');
    if (key === undefined || group === undefined) return;
    this.underWay.delete(key);
    this.unpriced += group.unpriced;
    this.money.settle(key, group.cost + group.unpriced);
  }
}

test('no schedule of groups spends more than was allowed, beyond what has no price', () => {
  const budget = option(nat({ max: 3000 }));
  assert(
    property(budget, nat({ max: 500 }), integer({ min: 1, max: 8 }), events, (first, kept, side, all) => {
      const night = new SomeNight(first, kept, side);
      for (const [place, event] of all.entries()) night.happen(event, `${place}`);
      night.endAll();
    }),
    { numRuns: 2_000 },
  );
});

test('groups that are under way together are given equal parts, and the next one what they did not use', () => {
  const money = new NightMoney();
  money.allow(1000, 200);
  const shares = ['a', 'b', 'c', 'd'].map((key) => money.reserve(key, 4));
  expect(shares).toEqual([200, 200, 200, 200]);
  expect(money.reserve('e', 4)).toBeUndefined();
  money.settle('a', 50);
  expect(money.reserve('e', 4)).toBe(150);
  expect(money.spent).toBe(50);
});

test('once a group could not be paid, none begins before more is allowed, or the gate has its own money', () => {
  const money = new NightMoney();
  money.allow(1000, 500);
  money.runShort();
  expect(money.reserve('a', 1)).toBeUndefined();
  money.allow(1000, 400);
  expect(money.reserve('a', 1)).toBeUndefined();
  money.allow(1001, 400);
  expect(money.reserve('a', 1)).toBe(601);
  money.settle('a', null);
  expect(money.spent).toBe(601);
  money.runShort();
  money.forgetShortage();
  money.allow(1001, 0);
  expect(money.reserve('b', 2)).toBe(200);
});

test('a night without limit books all the same', () => {
  const money = new NightMoney();
  expect(money.reserve('a', 4)).toBeNull();
  money.settle('a', 7);
  expect([money.spent, money.isUsedUp()]).toEqual([7, false]);
});

test.each([
  ['what its rollouts cost and half as much again', 1000, 20, 10, 300],
  ['half of the budget at most', 1000, 200, 10, 500],
  ['a quarter while no cost is known', 1000, 200, null, 250],
  ['nothing where rollouts cost nothing', 1000, 200, 0, 0],
])('for the gate is kept %s', (_, budget, rollouts, each, kept) => {
  expect(costOfGate(budget, rollouts, each)).toBe(kept);
});
