import { z } from 'zod';
import { DAY_MS } from '../../config/duration';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { dateOf } from '../../store/costs';
import { eachInParallel, type Store } from '../../store/store';
import { describeUsd } from '../../trace/describe';
import { Turns } from '../../turns';
import { changeRecord, readRecord } from '../../store/records';
import { Refusal } from '../refusal';
import type { Key } from './keys';

const daySchema = z.object({
  /** Cost of solves that have ended. */
  spentNanoUsd: z.int().min(0),
  /** Reservation of each running solve, by solve id: the most that it may cost, in nano-USD. */
  held: z.record(z.string(), z.int().min(0)),
  /** Reservations of the latest solves that ended, so that a repeated request is recognized. */
  ended: z.record(z.string(), z.int().min(0)),
});

type Day = Readonly<z.infer<typeof daySchema>>;

const EMPTY: Day = { spentNanoUsd: 0, held: {}, ended: {} };

type Spender = Pick<Key, 'id' | 'name' | 'usdPerDay'>;

export interface DaySpending {
  readonly spentNanoUsd: number;
  readonly heldNanoUsd: number;
}

/** Number of UTC days on which a solve that ends today may have started, plus one. */
const DAYS_OF_A_SOLVE = Math.ceil(MAX_WALL_CLOCK_MS / DAY_MS) + 2;
/** Maximum number of entries in `ended`, since each change rewrites the whole document. */
const MOST_ENDED = 200;

/** Folder and lifetime of day documents: each is needed as long as a solve that started on its day can run. */
export const DAYS = { folder: 'gateway/days/', lifeMs: DAYS_OF_A_SOLVE * DAY_MS };

const placeOf = (keyId: string, date: string): string => `${DAYS.folder}${keyId}/${date}.json`;

/** Returns what a key has spent and reserved on the UTC day of a time. */
export async function readSpending(store: Store, keyId: string, time: number): Promise<DaySpending> {
  return spendingOf(await readRecord(store, placeOf(keyId, dateOf(time)), daySchema));
}

function spendingOf(day: Day | null): DaySpending {
  const held = Object.values(day?.held ?? {});
  return { spentNanoUsd: day?.spentNanoUsd ?? 0, heldNanoUsd: held.reduce((sum, each) => sum + each, 0) };
}

/**
 * Day budgets of keys (UTC), one document per key and day. All gateways of a store change it by compare-and-set.
 *
 * 1. A solve reserves the most that it may cost until it has ended and its cost is known. The sum of costs and
 *    reservations never exceeds the budget, as long as no solve costs more than its reservation.
 * 2. The reservation and the cost both count towards the day of the reservation.
 * 3. If a gateway dies, its reservations remain until `settle` releases them, or until the day has no room left.
 */
export class DayBudgets {
  private readonly turns = new Map<string, Turns>();

  /** @param costOf returns the cost of an ended solve in nano-USD; null or an error if the solve is running */
  constructor(
    private readonly store: Store,
    private readonly costOf: (solveId: string) => Promise<number | null>,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Reserves and returns what a solve may cost: the amount asked for, or all that is left if that is null. A second
   * call for a solve returns the first result. Without a budget, returns the amount asked for and reserves nothing.
   * @throws Refusal if the budget has no room for that
   */
  reserve(key: Spender, solveId: string, askedNanoUsd: number | null): Promise<number | null> {
    if (key.usdPerDay === null) return Promise.resolve(askedNanoUsd);
    const budget = Math.round(key.usdPerDay * 1e9);
    return this.inTurn(key, async () => {
      const now = this.now();
      const [today, yesterday] = [placeOf(key.id, dateOf(now)), placeOf(key.id, dateOf(now - DAY_MS))];
      // The first attempt of a repeated request may have been before midnight.
      const before = grantOf(await readRecord(this.store, yesterday, daySchema), solveId);
      if (before !== undefined) return before;
      for (;;) {
        const { granted, day } = await this.change(today, (day) =>
          hold(day, solveId, { budget, askedNanoUsd }),
        );
        if (granted !== null) return granted;
        const ended = await this.costsOf(Object.keys(day.held));
        if (ended.size === 0) throw spent(key, spendingOf(day), askedNanoUsd, now);
        await this.change(today, (day) => settle(day, ended));
      }
    });
  }

  /** Replaces a solve's reservation with its cost, on the day of the reservation; a second call does nothing. */
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

  /** Changes a key's documents one request at a time, so that requests of one process do not conflict. */
  private inTurn<Result>({ id }: Spender, work: () => Promise<Result>): Promise<Result> {
    const turns = this.turns.get(id) ?? new Turns(1);
    this.turns.set(id, turns);
    return turns.take(work);
  }
}

function spent(key: Spender, spending: DaySpending, askedNanoUsd: number | null, now: number): Refusal {
  const { spentNanoUsd, heldNanoUsd } = spending;
  const usd = (nanoUsd: number): string => describeUsd(nanoUsd / 1e9);
  const asked = askedNanoUsd !== null && `this solve may cost up to ${usd(askedNanoUsd)}`;
  const facts = [
    `key ${JSON.stringify(key.name)} may spend ${describeUsd(key.usdPerDay ?? 0)} a day`,
    `${usd(spentNanoUsd)} is spent`,
    `${usd(heldNanoUsd)} is reserved for running solves`,
    asked,
  ];
  const remedies = [
    asked && 'lower its cost limit',
    heldNanoUsd > 0 && 'wait until one of those ends',
    `try again after ${dateOf(now + DAY_MS)}T00:00:00.000Z`,
  ];
  const message = `${facts.filter(Boolean).join(', ')}: ${remedies.filter(Boolean).join(', or ')}`;
  // OpenAI's clients know this code.
  return new Refusal(402, message, { reason: 'insufficient_quota' });
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
  // A solve without a limit needs at least 1 nano-USD, so it is refused once the budget is used up.
  const granted = askedNanoUsd ?? Math.max(left, 1);
  if (granted > left) return [null, { granted: null, day }];
  return [
    { ...day, held: { ...day.held, [solveId]: granted } },
    { granted, day },
  ];
}

/** Books the costs of ended solves. The flag says whether any of them had a reservation that day. */
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
