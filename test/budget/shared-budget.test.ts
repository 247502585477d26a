import { array, assert, constantFrom, integer, nat, option, property, record } from 'fast-check';
import { type BudgetShare, SharedBudget } from '../../src/budget/shared-budget';

/** A change of the budget, the end of a part under way, or another part that asks for money. */
interface Event {
  readonly kind: 'budget' | 'end' | 'begin';
  readonly who: number;
  /** Cost of the part without a limit. */
  readonly cost: number;
  /** Further cost of the part at unknown prices. */
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

interface Part {
  readonly share: BudgetShare;
  readonly cost: number;
  readonly unpriced: number;
}

class SomeParts {
  readonly money: SharedBudget;
  private readonly underWay: Part[] = [];
  /** The most that may be spent: what is allowed, or what was promised before that was lowered. */
  private most = 0;
  private unpriced = 0;

  constructor(
    budget: number | null,
    readonly kept: number,
    private readonly together: number,
    private readonly least: number,
  ) {
    this.money = new SharedBudget(budget);
    this.budget(budget);
  }

  /** Amount spent, plus what the parts under way will spend, without unpriced costs. */
  private get spent(): number {
    return this.underWay.reduce((sum, { cost }) => sum + cost, this.money.spent - this.unpriced);
  }

  happen(event: Event): void {
    if (event.kind === 'budget') this.budget(event.budget);
    else if (event.kind === 'end') this.end(event.who % this.underWay.length);
    else if (this.underWay.length < this.together) this.begin(event);
    expect(this.spent).toBeLessThanOrEqual(this.most);
    expect(this.money.underWay).toBe(this.underWay.length);
  }

  endAll(): void {
    while (this.underWay.length > 0) this.end(0);
  }

  private budget(nanoUsd: number | null): void {
    this.most = Math.max(this.spent, nanoUsd === null ? Infinity : nanoUsd - this.kept);
    this.money.allow(nanoUsd, this.kept);
  }

  private begin({ cost, unpriced }: Event): void {
    const share = this.money.share(this.together, this.least);
    if (share === null) {
      // A part is refused for good, or waits for another one to end.
      expect(this.money.isUsedUp || this.underWay.length > 0).toBe(true);
      return;
    }
    const given = share.nanoUsd ?? Infinity;
    if (this.underWay.length > 0) expect(given).toBeGreaterThanOrEqual(Math.min(this.least, given + 1));
    this.underWay.push({ share, cost: Math.min(cost, given), unpriced });
    if (cost > given) this.money.runShort();
  }

  private end(place: number): void {
    const [part] = this.underWay.splice(place, 1);
    if (part === undefined) return;
    this.unpriced += part.unpriced;
    part.share.settle(part.cost + part.unpriced);
  }
}

test('no schedule of parts spends more than allowed, apart from unpriced costs', () => {
  const budget = option(nat({ max: 3000 }));
  const together = integer({ min: 1, max: 8 });
  const least = integer({ min: 1, max: 300 });
  assert(
    property(budget, nat({ max: 500 }), together, least, events, (first, kept, side, fewest, all) => {
      const parts = new SomeParts(first, kept, side, fewest);
      for (const event of all) parts.happen(event);
      parts.endAll();
    }),
    { numRuns: 2_000 },
  );
});

test('concurrent parts get equal shares, and the next part gets what they did not use', () => {
  const money = new SharedBudget();
  money.allow(1000, 200);
  const shares = [1, 2, 3, 4].map(() => money.share(4));
  expect(shares.map((share) => share?.nanoUsd)).toEqual([200, 200, 200, 200]);
  expect(money.share(4)).toBeNull();
  shares[0]?.settle(50);
  expect(money.share(4)?.nanoUsd).toBe(150);
  expect([money.spent, money.highestSpent]).toEqual([50, 50]);
});

test('a part that needs more than is left waits for others, and then takes all the rest', () => {
  const money = new SharedBudget(1000, 100);
  const [one, other] = [money.share(8, 400), money.share(8, 400)];
  expect([one?.nanoUsd, other?.nanoUsd]).toEqual([450, 450]);
  one?.settle(300);
  expect(money.share(8, 400)).toBeNull();
  other?.settle(300);
  expect(money.share(8, 400)?.nanoUsd).toBe(300);
  expect(money.spent).toBe(700);
});

test('after a part could not be paid, none begins until more is allowed or the shortage is forgotten', () => {
  const money = new SharedBudget();
  money.allow(1000, 500);
  money.runShort();
  expect(money.share(1)).toBeNull();
  money.allow(1000, 400);
  expect(money.share(1)).toBeNull();
  money.allow(1001, 400);
  const share = money.share(1);
  expect(share?.nanoUsd).toBe(601);
  share?.settle(null);
  expect(money.spent).toBe(601);
  money.runShort();
  money.forgetShortage();
  money.allow(1001, 0);
  expect(money.share(2)?.nanoUsd).toBe(200);
});

test('without a limit, spending is still booked', () => {
  const money = new SharedBudget();
  const share = money.share(4, 1_000);
  expect(share?.nanoUsd).toBeNull();
  share?.settle(7);
  expect([money.spent, money.isUsedUp]).toEqual([7, false]);
});
