import { z } from 'zod';
import { ConductorError } from '../../errors';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { dateOf } from '../../store/costs';
import { eachInParallel, type Store } from '../../store/store';
import { describeUsd } from '../../trace/describe';
import { Turns } from '../../turns';
import { changeRecord, readRecord } from '../../store/records';
import type { Key } from './keys';

const daySchema = z.object({
  /** Cost of solves that have ended. */
  spentNanoUsd: z.int().min(0),
  /** What each solve under way may still come to, by its id. */
  held: z.record(z.string(), z.int().min(0)),
  /** What the last solves that ended were granted: a request that is repeated is no new one. */
  ended: z.record(z.string(), z.int().min(0)),
});

type Day = Readonly<z.infer<typeof daySchema>>;

const EMPTY: Day = { spentNanoUsd: 0, held: {}, ended: {} };

type Spender = Pick<Key, 'id' | 'name' | 'usdPerDay'>;

export interface DaySpending {
  readonly spentNanoUsd: number;
  readonly heldNanoUsd: number;
}

const DAY_MS = 86_400_000;
/** The days on which a solve that ends today may have begun, and one more. */
const DAYS_OF_A_SOLVE = Math.ceil(MAX_WALL_CLOCK_MS / DAY_MS) + 2;
/** Each of them makes the document longer, which is written at each change. */
const MOST_ENDED = 200;

/** A day is of use while a solve that began on it can run. */
export const DAYS = { folder: 'gateway/days/', lifeMs: DAYS_OF_A_SOLVE * DAY_MS };

const placeOf = (keyId: string, date: string): string => `${DAYS.folder}${keyId}/${date}.json`;

/** What a key has spent and holds on the UTC day of a time. */
export async function readSpending(store: Store, keyId: string, time: number): Promise<DaySpending> {
  return spendingOf(await readRecord(store, placeOf(keyId, dateOf(time)), daySchema));
}

function spendingOf(day: Day | null): DaySpending {
  const held = Object.values(day?.held ?? {});
  return { spentNanoUsd: day?.spentNanoUsd ?? 0, heldNanoUsd: held.reduce((sum, each) => sum + each, 0) };
}

/** A key's budget of the day has no room for the worst case of a solve. Trying again the next day helps. */
export class BudgetSpentError extends ConductorError {
  override readonly name = 'BudgetSpentError';
  readonly code = 'BudgetSpent';
  /** Until the next day begins. */
  readonly secondsLeft: number;

  constructor(
    key: Spender,
    readonly spending: DaySpending,
    { askedNanoUsd, now }: { readonly askedNanoUsd: number | null; readonly now: number },
  ) {
    const endMs = Date.parse(dateOf(now + DAY_MS));
    const { spentNanoUsd, heldNanoUsd } = spending;
    const usd = (nanoUsd: number): string => describeUsd(nanoUsd / 1e9);
    const asked = askedNanoUsd !== null && `this solve may cost up to ${usd(askedNanoUsd)}`;
    const facts = [
      `key ${JSON.stringify(key.name)} may spend ${describeUsd(key.usdPerDay ?? 0)} a day`,
      `${usd(spentNanoUsd)} is spent`,
      `${usd(heldNanoUsd)} is held for solves under way`,
      asked,
    ];
    const remedies = [
      asked && 'lower its limit of cost',
      heldNanoUsd > 0 && 'wait until one of those has ended',
      `try again after ${new Date(endMs).toISOString()}`,
    ];
    super(`${facts.filter(Boolean).join(', ')}: ${remedies.filter(Boolean).join(', or ')}`);
    this.secondsLeft = Math.ceil((endMs - now) / 1000);
  }
}

/**
 * Budgets of keys for each UTC day, in a document a day that all gateways of a store change by compare and set.
 *
 * 1. A solve holds the most that it may cost, until it has ended and its cost is known: what is spent and held is never
 *    more than the budget, as long as no solve costs more than it was granted.
 * 2. It is held and spent on the day on which it was reserved.
 * 3. A gateway that dies leaves what it held: it is freed by `settle`, or when the day has no room left.
 */
export class DayBudgets {
  private readonly turns = new Map<string, Turns>();

  /** @param costOf gives the cost of a solve that has ended, in nano-USD, and null or an error while it runs */
  constructor(
    private readonly store: Store,
    private readonly costOf: (solveId: string) => Promise<number | null>,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Holds what a solve may cost, and gives it: what was asked for, or all that is left where that is null. The second time
   * for one solve, it gives what it gave the first time. A key without a budget gets what it asks for, and holds nothing.
   * @throws BudgetSpentError
   */
  reserve(key: Spender, solveId: string, askedNanoUsd: number | null): Promise<number | null> {
    if (key.usdPerDay === null) return Promise.resolve(askedNanoUsd);
    const budget = Math.round(key.usdPerDay * 1e9);
    return this.inTurn(key, async () => {
      const now = this.now();
      const [today, yesterday] = [placeOf(key.id, dateOf(now)), placeOf(key.id, dateOf(now - DAY_MS))];
      // A request that is repeated may be so after midnight.
      const before = grantOf(await readRecord(this.store, yesterday, daySchema), solveId);
      if (before !== undefined) return before;
      for (;;) {
        const { granted, day } = await this.change(today, (day) =>
          hold(day, solveId, { budget, askedNanoUsd }),
        );
        if (granted !== null) return granted;
        const ended = await this.costsOf(Object.keys(day.held));
        if (ended.size === 0) throw new BudgetSpentError(key, spendingOf(day), { askedNanoUsd, now });
        await this.change(today, (day) => settle(day, ended));
      }
    });
  }

  /** Turns what a solve holds into what it cost, on the day on which it was reserved; the second time, does nothing. */
  async settle(key: Spender, solveId: string, nanoUsd: number): Promise<void> {
    if (key.usdPerDay === null) return;
    await this.inTurn(key, async () => {
      const now = this.now();
      const cost = new Map([[solveId, nanoUsd]]);
      for (let days = 0; days < DAYS_OF_A_SOLVE; days += 1) {
        const place = placeOf(key.id, dateOf(now - days * DAY_MS));
        if (await this.change(place, (day) => settle(day, cost))) return;
      }
    });
  }

  private change<Result>(
    place: string,
    work: (day: Day) => readonly [next: Day | null, result: Result],
  ): Promise<Result> {
    return changeRecord(this.store, place, daySchema, (day) => work(day ?? EMPTY));
  }

  private async costsOf(solveIds: readonly string[]): Promise<Map<string, number>> {
    const costs = new Map<string, number>();
    await eachInParallel(solveIds, async (solveId) => {
      const cost = await this.costOf(solveId).catch(() => null);
      if (cost !== null) costs.set(solveId, cost);
    });
    return costs;
  }

  /** Requests of one key change its document one after another: within a process, none is in the way of another. */
  private inTurn<Result>({ id }: Spender, work: () => Promise<Result>): Promise<Result> {
    const turns = this.turns.get(id) ?? new Turns(1);
    this.turns.set(id, turns);
    return turns.take(work);
  }
}

interface Asked {
  readonly budget: number;
  readonly askedNanoUsd: number | null;
}

function grantOf(day: Day | null, solveId: string): number | undefined {
  return day?.held[solveId] ?? day?.ended[solveId];
}

function hold(
  day: Day,
  solveId: string,
  { budget, askedNanoUsd }: Asked,
): readonly [Day | null, { readonly granted: number | null; readonly day: Day }] {
  const before = grantOf(day, solveId);
  if (before !== undefined) return [null, { granted: before, day }];
  const { spentNanoUsd, heldNanoUsd } = spendingOf(day);
  const left = budget - spentNanoUsd - heldNanoUsd;
  // A solve that asked for no limit needs something at least.
  const granted = askedNanoUsd ?? Math.max(left, 1);
  if (granted > left) return [null, { granted: null, day }];
  return [
    { ...day, held: { ...day.held, [solveId]: granted } },
    { granted, day },
  ];
}

/** Whether any of these solves was held that day. */
function settle(day: Day, costs: ReadonlyMap<string, number>): readonly [Day | null, boolean] {
  const ended = Object.entries(day.held).filter(([solveId]) => costs.has(solveId));
  if (ended.length === 0) return [null, false];
  const running = Object.entries(day.held).filter(([solveId]) => !costs.has(solveId));
  const cost = ended.reduce((sum, [solveId]) => sum + (costs.get(solveId) ?? 0), 0);
  const next = {
    spentNanoUsd: day.spentNanoUsd + cost,
    held: Object.fromEntries(running),
    ended: Object.fromEntries([...Object.entries(day.ended), ...ended].slice(-MOST_ENDED)),
  };
  return [next, true];
}
