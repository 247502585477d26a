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

/** What the server knows of a solve; null: nothing. */
type Known = Awaited<ReturnType<ConstructorParameters<typeof DayBudgets>[1]>>;

const RUNNING: Known = { status: 'running', costUsd: 0, costIsLowerBound: false };
const neverEnds = (): Promise<Known> => Promise.resolve(RUNNING);
const isGone = (): Promise<Known> => Promise.resolve(null);

const costing = (nanoUsd: number, costIsLowerBound = false) =>
  ({ status: 'completed', costUsd: nanoUsd / USD, costIsLowerBound }) as const;

function budgetsAt(clock: { now: number }, look: (solveId: string) => Promise<Known> = neverEnds) {
  return new DayBudgets(stage.store, look, () => clock.now);
}

/** Reserves for a solve that is then started, and returns what was granted; null if it was started before. */
async function start(budgets: DayBudgets, key: Spender, solveId: string, asked: number | null) {
  const reservation = await budgets.reserve(key, solveId, asked);
  await reservation?.confirm();
  return reservation?.nanoUsd ?? null;
}

type Spender = ReturnType<typeof keyOf>;

const spending = async (key: { readonly id: string }, time = NOON) => {
  const { spentNanoUsd, heldNanoUsd } = await readSpending(stage.store, key.id, time);
  return { spentNanoUsd, heldNanoUsd };
};

describe('a reservation', () => {
  test('holds what was asked for, and its settlement leaves what it cost', async () => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(1);
    expect(await start(budgets, key, 'gw-1', 0.75 * USD)).toBe(0.75 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0.75 * USD });
    await budgets.settle(key, 'gw-1', costing(0.25 * USD));
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.25 * USD, heldNanoUsd: 0 });
    expect(await start(budgets, key, 'gw-2', 0.75 * USD)).toBe(0.75 * USD);
  });

  test('takes all that is left if no limit is asked for, and fails once nothing is left', async () => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(1);
    await start(budgets, key, 'gw-1', 0.4 * USD);
    expect(await start(budgets, key, 'gw-2', null)).toBe(0.6 * USD);
    await expect(start(budgets, key, 'gw-3', null)).rejects.toMatchObject({ status: 402 });
  });

  test.each([[null], [5]])('of a key without a budget is what was asked for, %p', async (asked) => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(null);
    expect(await start(budgets, key, 'gw-1', asked)).toBe(asked);
    await budgets.settle(key, 'gw-1', costing(3));
    expect(await stage.store.list('gateway/')).toEqual([]);
  });

  test('and its settlement count once, however often they are repeated', async () => {
    const key = keyOf(1);
    const budgets = budgetsAt({ now: NOON });
    const together = await Promise.all(
      [0.75 * USD, 0.1 * USD].map((asked) => budgets.reserve(key, 'gw-1', asked)),
    );
    expect(together.map((each) => each?.nanoUsd)).toEqual([0.75 * USD, 0.75 * USD]);
    for (const each of together) await each?.confirm();
    for (const other of [budgets, budgetsAt({ now: NOON })]) {
      expect(await other.reserve(key, 'gw-1', 0.1 * USD)).toBeNull();
    }
    await Promise.all([1, 2, 3].map(() => budgets.settle(key, 'gw-1', costing(0.5 * USD))));
    expect(await budgets.reserve(key, 'gw-1', 0.5 * USD)).toBeNull();
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.5 * USD, heldNanoUsd: 0 });
  });

  test('is remembered if it is recent, and the document stays short', async () => {
    const budgets = budgetsAt({ now: NOON });
    const key = keyOf(1);
    for (let index = 0; index < 202; index += 1) {
      await start(budgets, key, `gw-${index}`, 1);
      await budgets.settle(key, `gw-${index}`, costing(1));
    }
    for (const solve of ['gw-2', 'gw-201']) expect(await budgets.reserve(key, solve, 1)).toBeNull();
    expect(await spending(key)).toEqual({ spentNanoUsd: 202, heldNanoUsd: 0 });
    const document = String(await stage.store.read(`gateway/days/${key.id}/2026-11-21.json`));
    expect(document).not.toContain('gw-1"');
  });

  test('belongs to its day, even if it is repeated or settled after midnight', async () => {
    const clock = { now: MIDNIGHT - 1 };
    const budgets = budgetsAt(clock);
    const key = keyOf(1);
    await start(budgets, key, 'gw-1', USD);
    clock.now = MIDNIGHT;
    expect(await budgets.reserve(key, 'gw-1', 0.5 * USD)).toBeNull();
    expect(await start(budgets, key, 'gw-2', USD)).toBe(USD);
    clock.now = MIDNIGHT + 24 * 24 * 3_600_000;
    await budgets.settle(key, 'gw-1', costing(0.3 * USD));
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.3 * USD, heldNanoUsd: 0 });
    expect(await spending(key, MIDNIGHT)).toEqual({ spentNanoUsd: 0, heldNanoUsd: USD });
  });
});

describe('a refused request', () => {
  test('leaves no trace: the same id is booked when it is sent again', async () => {
    const budgets = budgetsAt({ now: NOON }, isGone);
    const key = keyOf(1);
    const refused = await budgets.reserve(key, 'gw-1', 0.75 * USD);
    await refused?.withdraw();
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0 });
    await refused?.withdraw();
    expect(await start(budgets, key, 'gw-1', 0.5 * USD)).toBe(0.5 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0.5 * USD });
  });

  test('keeps what other requests with its id reserved, whichever began first', async () => {
    const key = keyOf(1);
    for (const [solve, order] of [
      ['gw-1', [0, 1]],
      ['gw-2', [1, 0]],
    ] as const) {
      const gateways = [stage.store, stage.again()].map((store) => new DayBudgets(store, isGone, () => NOON));
      const both = [];
      for (const gateway of gateways) both.push(await gateway.reserve(key, solve, 0.25 * USD));
      await both[order[0]]?.withdraw();
      await both[order[1]]?.confirm();
      await both[order[0]]?.withdraw();
    }
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0.5 * USD });
  });
});

describe('the id of a solve that is gone from the server', () => {
  test('is booked again, and what was not settled counts as a whole', async () => {
    const known = new Set(['gw-1', 'gw-2']);
    const budgets = budgetsAt({ now: NOON }, (id) => Promise.resolve(known.has(id) ? RUNNING : null));
    const key = keyOf(1);
    for (const solve of known) await start(budgets, key, solve, 0.2 * USD);
    await budgets.settle(key, 'gw-1', costing(0.1 * USD));
    for (const solve of known) expect(await budgets.reserve(key, solve, 0.3 * USD)).toBeNull();
    known.clear();
    for (const solve of ['gw-1', 'gw-2']) expect(await start(budgets, key, solve, 0.3 * USD)).toBe(0.3 * USD);
    expect(await readSpending(stage.store, key.id, NOON)).toEqual({
      spentNanoUsd: 0.1 * USD,
      unknownNanoUsd: 0.2 * USD,
      isLowerBound: true,
      heldNanoUsd: 0.6 * USD,
    });
  });

  test('is not asked for while the server cannot be reached', async () => {
    let look = neverEnds;
    const budgets = budgetsAt({ now: NOON }, () => look());
    const key = keyOf(1);
    await start(budgets, key, 'gw-1', 0.2 * USD);
    look = () => Promise.reject(new Error('the server is away'));
    await expect(budgets.reserve(key, 'gw-1', 0.2 * USD)).rejects.toThrow('away');
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0.2 * USD });
  });
});

test('a cost of which a part is unknown counts as the whole reservation, or more if more is known', async () => {
  const budgets = budgetsAt({ now: NOON });
  const key = keyOf(1);
  await start(budgets, key, 'gw-1', 0.4 * USD);
  await start(budgets, key, 'gw-2', 0.3 * USD);
  await budgets.settle(key, 'gw-1', costing(0.1 * USD, true));
  await budgets.settle(key, 'gw-2', costing(0.35 * USD, true));
  expect(await readSpending(stage.store, key.id, NOON)).toEqual({
    spentNanoUsd: 0.45 * USD,
    unknownNanoUsd: 0.3 * USD,
    isLowerBound: true,
    heldNanoUsd: 0,
  });
  await expect(budgets.reserve(key, 'gw-3', 0.3 * USD)).rejects.toThrow(
    'may spend $1.00 a day, at least $0.4500 spent, $0.3000 counted for calls of unknown cost, $0.00 reserved',
  );
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
    const ends: Readonly<Record<string, () => Promise<Known>>> = {
      'gw-ended': () => Promise.resolve(costing(0.1 * USD)),
      'gw-running': neverEnds,
      'gw-away': () => Promise.reject(new Error('the server is away')),
    };
    const budgets = budgetsAt({ now: NOON }, (id) => ends[id]?.() ?? neverEnds());
    const key = keyOf(0.9);
    for (const solve of Object.keys(ends)) await start(budgets, key, solve, 0.3 * USD);
    expect(await start(budgets, key, 'gw-new', 0.2 * USD)).toBe(0.2 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0.1 * USD, heldNanoUsd: 0.8 * USD });
  });

  test('what a request that died on the way reserved is released once it can start nothing any more', async () => {
    const clock = { now: NOON };
    const budgets = budgetsAt(clock, isGone);
    const key = keyOf(1);
    await budgets.reserve(key, 'gw-1', USD);
    await expect(budgets.reserve(key, 'gw-2', USD)).rejects.toThrow('$1.00 reserved');
    clock.now += 11 * 60_000;
    const late = await budgets.reserve(key, 'gw-2', 0.5 * USD);
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0.5 * USD });
    await late?.withdraw();
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 0 });
  });

  test('a request that starts its solve after that holds its reservation again', async () => {
    const clock = { now: NOON };
    const budgets = budgetsAt(clock, isGone);
    const key = keyOf(1);
    const slow = await budgets.reserve(key, 'gw-1', USD);
    clock.now += 11 * 60_000;
    await budgets.reserve(key, 'gw-2', 0.25 * USD);
    await slow?.confirm();
    expect(await spending(key)).toEqual({ spentNanoUsd: 0, heldNanoUsd: 1.25 * USD });
  });

  test('a started solve that is gone counts as a whole', async () => {
    const budgets = budgetsAt({ now: NOON }, isGone);
    const key = keyOf(1);
    await start(budgets, key, 'gw-1', 0.75 * USD);
    await expect(budgets.reserve(key, 'gw-2', 0.5 * USD)).rejects.toThrow('$0.7500 counted for calls');
  });

  test('no costs are asked for while there is room', async () => {
    const look = jest.fn(neverEnds);
    const budgets = budgetsAt({ now: NOON }, look);
    const key = keyOf(1);
    await budgets.reserve(key, 'gw-1', 0.5 * USD);
    await budgets.reserve(key, 'gw-2', 0.5 * USD);
    expect(look).not.toHaveBeenCalled();
  });

  test('the error says what is spent and held, and when the day ends', async () => {
    const clock = { now: MIDNIGHT - 90_500 };
    const budgets = budgetsAt(clock);
    const key = keyOf(5);
    await budgets.reserve(key, 'gw-1', 3 * USD);
    await budgets.settle(key, 'gw-1', costing(1.5 * USD));
    await budgets.reserve(key, 'gw-2', 3 * USD);
    await expect(budgets.reserve(key, 'gw-3', USD)).rejects.toMatchObject({
      code: 'insufficient_quota',
      message:
        'key "ci" may spend $5.00 a day, $1.50 spent, $3.00 reserved for running solves, this solve may cost up ' +
        'to $1.00: lower its cost limit, or wait until one of those ends, or try again after 2026-11-22T00:00:00.000Z',
    });
    await budgets.settle(key, 'gw-2', costing(3.5 * USD));
    await expect(budgets.reserve(key, 'gw-3', null)).rejects.toThrow(
      /\$0\.00 reserved for running solves: try again after/,
    );
  });
});

test('of 50 concurrent reservations over two gateways, exactly those that fit are granted', async () => {
  const key = keyOf(1);
  const gateways = [stage.store, stage.again()].map((store) => new DayBudgets(store, neverEnds, () => NOON));
  const asked = Array.from({ length: 50 }, async (_, index) =>
    gateways[index % 2]?.reserve(key, `gw-${index}`, USD / 20).catch(() => null),
  );
  const granted = (await Promise.all(asked)).filter((each) => each?.nanoUsd === USD / 20);
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

/** What happens to one of a few ids, which callers choose. */
const deed = fc.record({
  isFirst: fc.boolean(),
  solve: fc.nat(3).map((number) => `gw-${number}`),
  what: fc.constantFrom('start', 'start', 'refused', 'lost', 'end', 'settle', 'forgotten'),
  asked: fc.option(fc.integer({ min: 0, max: 60 })),
  /** Part of its grant that the solve costs, and whether that is known. */
  part: fc.double({ min: 0, max: 1, noNaN: true }),
  isKnown: fc.boolean(),
});
const deeds = fc.array(deed, { maxLength: 12 });

type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

interface Run {
  readonly granted: number;
  readonly cost: number;
  readonly isOver: boolean;
  readonly isKnown: boolean;
}

test('what solves cost never exceeds the budget, whatever happens when to which id', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(deeds, deeds, deeds), async (courses) => {
      const key = keyOf(NANO_BUDGET / USD);
      const server = new Map<string, Run>();
      const starting = new Map<string, number>();
      let bill = 0;
      const traceOf = ({ cost, isOver, isKnown }: Run): Known =>
        isOver ? costing(isKnown ? cost : 0, !isKnown) : RUNNING;
      const look = (id: string): Promise<Known> => {
        const run = server.get(id);
        return Promise.resolve(run === undefined ? null : traceOf(run));
      };
      const first = new DayBudgets(stage.store, look, () => NOON);
      const second = new DayBudgets(stage.again(), look, () => NOON);

      const start = async (budgets: DayBudgets, { solve, asked, what }: Deed): Promise<void> => {
        const reservation = await budgets.reserve(key, solve, asked).catch(() => null);
        if (reservation === null || what === 'lost') return;
        if (server.has(solve)) return reservation.confirm();
        if (what === 'refused') return reservation.withdraw();
        server.set(solve, { granted: reservation.nanoUsd ?? 0, cost: 0, isOver: false, isKnown: true });
        await reservation.confirm();
      };
      const end = (solve: string, run: Run, { part, isKnown }: Deed): void => {
        const cost = Math.floor(part * run.granted);
        bill += cost;
        server.set(solve, { ...run, cost, isKnown, isOver: true });
      };
      const settle = async (budgets: DayBudgets, solve: string, run: Run): Promise<void> => {
        const trace = traceOf(run);
        if (trace !== null) await budgets.settle(key, solve, trace);
      };
      const request = async (budgets: DayBudgets, deed: Deed): Promise<void> => {
        const { solve } = deed;
        starting.set(solve, (starting.get(solve) ?? 0) + 1);
        await start(budgets, deed);
        starting.set(solve, (starting.get(solve) ?? 0) - 1);
      };
      const act = async (deed: Deed): Promise<void> => {
        const budgets = deed.isFirst ? first : second;
        const { solve, what } = deed;
        const run = server.get(solve);
        if (['start', 'refused', 'lost'].includes(what)) return request(budgets, deed);
        if (run?.isOver === false) end(solve, run, deed);
        else if (run !== undefined && what === 'settle') return settle(budgets, solve, run);
        // The server keeps a run far longer than a request takes.
        else if (what === 'forgotten' && (starting.get(solve) ?? 0) === 0) server.delete(solve);
      };
      const run = async (course: readonly Deed[]): Promise<void> => {
        for (const deed of course) {
          await act(deed);
          const day = await readSpending(stage.store, key.id, NOON);
          const counted = day.spentNanoUsd + day.unknownNanoUsd + day.heldNanoUsd;
          expect(bill).toBeLessThanOrEqual(counted);
          expect(counted).toBeLessThanOrEqual(NANO_BUDGET);
        }
      };
      await Promise.all(courses.map(run));
    }),
    { numRuns: 60 },
  );
}, 120_000);
