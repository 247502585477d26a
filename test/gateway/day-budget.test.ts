import fc from 'fast-check';
import { DayBudgets, readSpending } from '../../src/gateway/access/day-budget';
import { tidy } from '../../src/gateway/server';
import { sqliteStores } from '../support/stores';
import { useStore } from './stage';

const stage = useStore();

const NOON = Date.parse('2026-11-21T12:00:00Z');
const MIDNIGHT = Date.parse('2026-11-22T00:00:00Z');
const USD = 1e9;

/** Number of keys so far, for an id that no other test's document has. */
let keys = 0;
const keyOf = (usdPerDay: number | null) => ({ id: `key${(keys += 1)}`, name: 'ci', usdPerDay });

const neverEnds = (): Promise<null> => Promise.resolve(null);

function budgetsAt(clock: { now: number }, costOf: (solveId: string) => Promise<number | null> = neverEnds) {
  return new DayBudgets(stage.store, costOf, () => clock.now);
}

const spending = (key: { readonly id: string }, time = NOON) => readSpending(stage.store, key.id, time);

describe('a reservation', () => {
  test('holds what was asked for, and its settlement leaves what it cost', async () => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(1);
    expect(await budgets.reserve(key, 'gw-1', 0.75 * USD)).toBe(0.75 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0.75 * USD });
    await budgets.settle(key, 'gw-1', 0.25 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.25 * USD, heldNanoUsd: 0 });
    expect(await budgets.reserve(key, 'gw-2', 0.75 * USD)).toBe(0.75 * USD);
  });

  test('takes all that is left if no limit is asked for, and fails once nothing is left', async () => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(1);
    await budgets.reserve(key, 'gw-1', 0.4 * USD);
    expect(await budgets.reserve(key, 'gw-2', null)).toBe(0.6 * USD);
    await expect(budgets.reserve(key, 'gw-3', null)).rejects.toMatchObject({ status: 402 });
  });

  test.each([[null], [5]])('of a key without a budget is what was asked for, %p', async (asked) => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(null);
    expect(await budgets.reserve(key, 'gw-1', asked)).toBe(asked);
    await budgets.settle(key, 'gw-1', 3);
    expect(await stage.store.list('gateway/')).toEqual([]);
  });

  test('and its settlement count once, however often they are repeated', async () => {
    const key = keyOf(1);
    for (const budgets of [budgetsAt({ now: NOON }), budgetsAt({ now: NOON })]) {
      expect(await budgets.reserve(key, 'gw-1', 0.75 * USD)).toBe(0.75 * USD);
      expect(await budgets.reserve(key, 'gw-1', 0.1 * USD)).toBe(0.75 * USD);
    }
    const budgets = budgetsAt({ now: NOON });
    await Promise.all([1, 2, 3].map(() => budgets.settle(key, 'gw-1', 0.5 * USD)));
    expect(await budgets.reserve(key, 'gw-1', 0.5 * USD)).toBe(0.75 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.5 * USD, heldNanoUsd: 0 });
  });

  test('is remembered if it is recent, and the document stays short', async () => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(1);
    for (let index = 0; index < 202; index += 1) {
      await budgets.reserve(key, `gw-${index}`, 1);
      await budgets.settle(key, `gw-${index}`, 1);
    }
    for (const solve of ['gw-2', 'gw-201']) await budgets.reserve(key, solve, 1);
    expect(await spending(key)).toEqual({ spentNanoUsd: 202, heldNanoUsd: 0 });
    const document = String(await stage.store.read(`gateway/days/${key.id}/2026-11-21.json`));
    expect(document).not.toContain('gw-1"');
  });

  test('belongs to its day, even if it is repeated or settled after midnight', async () => {
    const clock = { now: MIDNIGHT - 1 };
    const budgets = budgetsAt(clock);
    const key = keyOf(1);
    await budgets.reserve(key, 'gw-1', USD);
    clock.now = MIDNIGHT;
    expect(await budgets.reserve(key, 'gw-1', 0.5 * USD)).toBe(USD);
    expect(await budgets.reserve(key, 'gw-2', USD)).toBe(USD);
    clock.now = MIDNIGHT + 24 * 24 * 3_600_000;
    await budgets.settle(key, 'gw-1', 0.3 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.3 * USD, heldNanoUsd: 0 });
    expect(await spending(key, MIDNIGHT)).toEqual({ spentNanoUsd: 0, heldNanoUsd: USD });
  });
});

test('a day is deleted once no solve that began on it can still run', async () => {
  const stores = await sqliteStores();
  const store = await stores.open();
  await new DayBudgets(store, neverEnds).reserve(keyOf(1), 'gw-1', USD);
  const days = (): Promise<string[]> => store.list('gateway/days/');
  await stores.age(24 * 24);
  await tidy(store);
  expect(await days()).toHaveLength(1);
  await stores.age(24 * 27);
  await tidy(store);
  expect(await days()).toEqual([]);
  await stores.close();
});

describe('when a day has no room left', () => {
  test('solves that have ended make room, and those that run or cannot be reached keep theirs', async () => {
    const ends: Readonly<Record<string, () => Promise<number | null>>> = {
      'gw-ended': () => Promise.resolve(0.1 * USD),
      'gw-running': () => Promise.resolve(null),
      'gw-away': () => Promise.reject(new Error('the server is away')),
    };
    const budgets = budgetsAt({ now: NOON }, (id) => ends[id]?.() ?? neverEnds());
    const key = keyOf(0.9);
    for (const solve of Object.keys(ends)) await budgets.reserve(key, solve, 0.3 * USD);
    expect(await budgets.reserve(key, 'gw-new', 0.2 * USD)).toBe(0.2 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.1 * USD, heldNanoUsd: 0.8 * USD });
  });

  test('no costs are asked for while there is room', async () => {
    const costOf = jest.fn(neverEnds);
    const budgets = budgetsAt({ now: NOON }, costOf);
    const key = keyOf(1);
    await budgets.reserve(key, 'gw-1', 0.5 * USD);
    await budgets.reserve(key, 'gw-2', 0.5 * USD);
    expect(costOf).not.toHaveBeenCalled();
  });

  test('the error says what is spent and held, and when the day ends', async () => {
    const clock = { now: MIDNIGHT - 90_500 };
    const budgets = budgetsAt(clock);
    const key = keyOf(5);
    await budgets.reserve(key, 'gw-1', 3 * USD);
    await budgets.settle(key, 'gw-1', 1.5 * USD);
    await budgets.reserve(key, 'gw-2', 3 * USD);
    await expect(budgets.reserve(key, 'gw-3', USD)).rejects.toMatchObject({
      code: 'insufficient_quota',
      message:
        'key "ci" may spend $5.00 a day, $1.50 is spent, $3.00 is reserved for running solves, this solve may cost up ' +
        'to $1.00: lower its cost limit, or wait until one of those ends, or try again after 2026-11-22T00:00:00.000Z',
    });
    await budgets.settle(key, 'gw-2', 3.5 * USD);
    await expect(budgets.reserve(key, 'gw-3', null)).rejects.toThrow(
      /\$0\.00 is reserved for running solves: try again after/,
    );
  });
});

test('of 50 concurrent reservations over two gateways, exactly those that fit are granted', async () => {
  const key = keyOf(1);
  const gateways = [stage.store, stage.again()].map((store) => new DayBudgets(store, neverEnds, () => NOON));
  const asked = Array.from({ length: 50 }, async (_, index) =>
    gateways[index % 2]?.reserve(key, `gw-${index}`, USD / 20).catch((error: unknown) => error),
  );
  const granted = (await Promise.all(asked)).filter((each) => each === USD / 20);
  expect(granted).toHaveLength(20);
  expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: USD });
});

test('concurrent requests of one gateway cause no write conflicts', async () => {
  const replace = jest.spyOn(stage.store, 'replace');
  const budgets = budgetsAt({ now: NOON });
  const key = keyOf(1);
  await Promise.all(Array.from({ length: 30 }, (_, index) => budgets.reserve(key, `gw-${index}`, 1)));
  expect(replace).toHaveBeenCalledTimes(29);
});

const NANO_BUDGET = 100;

/** An action of a gateway; a solve costs a part of what it was granted. */
const deed = fc.record({
  isFirst: fc.boolean(),
  solve: fc.nat(7).map((number) => `gw-${number}`),
  asked: fc.option(fc.integer({ min: 0, max: 60 })),
  /** Whether it ends the solve, if one was granted, and whether its gateway survives to settle it. */
  ends: fc.boolean(),
  isNoted: fc.boolean(),
  part: fc.double({ min: 0, max: 1, noNaN: true }),
});
const deeds = fc.array(deed, { maxLength: 12 });

type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

test('spent and held amounts together never exceed the budget, whatever happens when', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(deeds, deeds, deeds), async (courses) => {
      const key = keyOf(NANO_BUDGET / USD);
      const granted = new Map<string, number>();
      const costs = new Map<string, number>();
      const costOf = (id: string): Promise<number | null> => Promise.resolve(costs.get(id) ?? null);
      const first = new DayBudgets(stage.store, costOf, () => NOON);
      const second = new DayBudgets(stage.again(), costOf, () => NOON);
      const reserve = async (budgets: DayBudgets, { solve, asked }: Deed): Promise<void> => {
        const found = await budgets.reserve(key, solve, asked).catch(() => null);
        if (found === null) return;
        expect(granted.get(solve) ?? found).toBe(found);
        granted.set(solve, found);
      };
      const end = async (budgets: DayBudgets, { solve, part, isNoted }: Deed): Promise<void> => {
        const cost = costs.get(solve) ?? Math.floor(part * (granted.get(solve) ?? 0));
        costs.set(solve, cost);
        if (isNoted) await budgets.settle(key, solve, cost);
      };
      const run = async (course: readonly Deed[]): Promise<void> => {
        for (const deed of course) {
          const budgets = deed.isFirst ? first : second;
          await (deed.ends && granted.has(deed.solve) ? end : reserve)(budgets, deed);
          const { spentNanoUsd, heldNanoUsd } = await spending(key);
          expect(spentNanoUsd + heldNanoUsd).toBeLessThanOrEqual(NANO_BUDGET);
        }
      };
      await Promise.all(courses.map(run));

      for (const [solve, grant] of granted) await first.settle(key, solve, costs.get(solve) ?? grant);
      const sum = [...granted].reduce((total, [solve, grant]) => total + (costs.get(solve) ?? grant), 0);
      expect(await spending(key)).toEqual({ spentNanoUsd: sum, heldNanoUsd: 0 });
    }),
    { numRuns: 40 },
  );
}, 120_000);
