import { randomBytes } from 'node:crypto';
import { DAY_MS } from '../../config/duration';
import { MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import type { SolveTrace } from '../../protocol/solve';
import { dateOf } from '../../store/costs';
import { eachInParallel, type Store } from '../../store/store';
import { describeCost, describeUsd } from '../../trace/describe';
import { Turns } from '../../runtime/turns';
import { changeRecord, readRecord } from '../../store/records';
import { Refusal } from '../refusal';
import type { Key } from './keys';
import * as reservations from './reservations';
import { type DayAccount, type DaySpending, daySchema, EMPTY_DAY, spendingOf } from './reservations';

/** Whoever has a budget. */
export interface Spender extends Pick<Key, 'id' | 'name' | 'usdPerDay'> {
  /** @default key */
  readonly kind?: 'namespace';
}

type Spent = Pick<SolveTrace, 'status' | 'costUsd' | 'costIsLowerBound'>;

/** Number of UTC days on which a solve that ends today may have started, plus one. */
const DAYS_OF_A_SOLVE = Math.ceil(MAX_WALL_CLOCK_MS / DAY_MS) + 2;

/** Age from which a request that has neither started its solve nor failed died on the way: a start takes seconds. */
const STALE_MS = 10 * 60 * 1000;

/** Folder and lifetime of day documents: each is needed as long as a solve that started on its day can run. */
export const DAYS = { folder: 'gateway/days/', lifeMs: DAYS_OF_A_SOLVE * DAY_MS };

const dayKey = (keyId: string, date: string): string => `${DAYS.folder}${keyId}/${date}.json`;

/** Returns what a key has spent and reserved on the UTC day of a time. */
export async function readSpending(store: Store, keyId: string, time: number): Promise<DaySpending> {
  return spendingOf((await readRecord(store, dayKey(keyId, dateOf(time)), daySchema)) ?? EMPTY_DAY);
}

/** Says what a day's ended solves spent, and what counts on top for calls whose cost is unknown. */
export function describeSpent({ spentNanoUsd, unknownNanoUsd, isLowerBound }: DaySpending): string {
  const known = describeCost({ costUsd: spentNanoUsd / 1e9, costIsLowerBound: isLowerBound });
  const unknown = `, ${describeUsd(unknownNanoUsd / 1e9)} counted for calls of unknown cost`;
  return `${known} spent${unknownNanoUsd > 0 ? unknown : ''}`;
}

interface SpendingInUsd {
  readonly spentTodayUsd: number;
  readonly spentTodayIsLowerBound: boolean;
  readonly unknownTodayUsd: number;
  readonly heldTodayUsd: number;
}

/** Returns a day's spending as programs are shown it. */
export function spendingInUsd({
  spentNanoUsd,
  unknownNanoUsd,
  isLowerBound,
  heldNanoUsd,
}: DaySpending): SpendingInUsd {
  return {
    spentTodayUsd: spentNanoUsd / 1e9,
    spentTodayIsLowerBound: isLowerBound,
    unknownTodayUsd: unknownNanoUsd / 1e9,
    heldTodayUsd: heldNanoUsd / 1e9,
  };
}

/** A request's hold on what its solve may cost. The request starts the solve, then says whether it did. */
export interface DayReservation {
  /** The most that the solve may cost; null: no limit. */
  readonly nanoUsd: number | null;
  /** Keeps the reservation until the solve has ended. */
  readonly confirm: () => Promise<void>;
  /** Releases the reservation, unless another request has it too. */
  readonly withdraw: () => Promise<void>;
}

/**
 * Day budgets of keys (UTC), one document per key and day. All gateways of a store change it by compare-and-set.
 *
 * 1. A solve reserves the most that it may cost until it has ended and its cost is known. The sum of costs and
 *    reservations never exceeds the budget, as long as no solve costs more than its reservation.
 * 2. The reservation and the cost both count towards the day of the reservation.
 * 3. An unknown cost counts as the whole reservation.
 * 4. If a gateway dies, its reservations remain until the day has no room left; then Temporal is asked about each.
 */
export class DayBudgets {
  private readonly turns = new Map<string, Turns>();

  /** @param look returns a solve's trace; null if the server has no such workflow; an error if that is unknown */
  constructor(
    private readonly store: Store,
    private readonly look: (solveId: string) => Promise<Spent | null>,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Reserves what a solve may cost: the amount asked for, or all that is left if that is null. Requests that are about
   * to start the same solve share the first one's reservation. Without a budget, nothing is reserved.
   * Returns null if the solve was started already, and the server still has it.
   * @throws Refusal if the budget has no room for that
   */
  reserve(key: Spender, solveId: string, askedNanoUsd: number | null): Promise<DayReservation | null> {
    if (key.usdPerDay === null) return Promise.resolve(unbooked(askedNanoUsd));
    const budgetNanoUsd = Math.round(key.usdPerDay * 1e9);
    const token = randomBytes(6).toString('hex');
    return this.inTurn(key, async () => {
      for (;;) {
        const madeAt = this.now();
        const place = await this.placeFor(key, solveId, madeAt);
        const claim = { solveId, token, madeAt, budgetNanoUsd, askedNanoUsd };
        const claimed = await this.change(place, (day) => reservations.claim(day, claim));
        if (typeof claimed === 'number') return this.reservation(key, place, claim, claimed);
        if (claimed === 'started') {
          if ((await this.look(solveId)) !== null) return null;
          await this.change(place, (day) => reservations.forget(day, solveId));
        } else if (!(await this.makeRoom(place))) {
          throw spent(key, await readSpending(this.store, key.id, madeAt), askedNanoUsd, madeAt);
        }
      }
    });
  }

  /** Replaces a solve's reservation with its cost, on the day of the reservation; a second call does nothing. */
  async settle(key: Spender, solveId: string, trace: Spent): Promise<void> {
    if (key.usdPerDay === null) return;
    await this.inTurn(key, async () => {
      const now = this.now();
      for (let days = 0; days < DAYS_OF_A_SOLVE; days += 1) {
        const place = dayKey(key.id, dateOf(now - days * DAY_MS));
        const spent = new Map([[solveId, trace]]);
        if (await this.change(place, (day) => reservations.settle(day, spent))) return;
      }
    });
  }

  /** Returns today's document, or yesterday's if it knows the solve: a repeated request may be from before midnight. */
  private async placeFor({ id }: Spender, solveId: string, now: number): Promise<string> {
    const yesterday = dayKey(id, dateOf(now - DAY_MS));
    const before = await readRecord(this.store, yesterday, daySchema);
    return before !== null && reservations.knows(before, solveId) ? yesterday : dayKey(id, dateOf(now));
  }

  private reservation(
    key: Spender,
    place: string,
    { solveId, token }: reservations.BudgetClaim,
    nanoUsd: number,
  ): DayReservation {
    const change = (work: Parameters<DayBudgets['change']>[1]): Promise<void> =>
      this.inTurn(key, async () => {
        await this.change(place, work);
      });
    return {
      nanoUsd,
      confirm: () => change((day) => reservations.confirm(day, solveId, nanoUsd)),
      withdraw: () => change((day) => reservations.withdraw(day, solveId, token)),
    };
  }

  /** Settles solves that have ended, and releases those that were never started. The flag says whether there were any. */
  private async makeRoom(place: string): Promise<boolean> {
    const day = (await readRecord(this.store, place, daySchema)) ?? EMPTY_DAY;
    const staleBefore = this.now() - STALE_MS;
    const ended = new Map<string, Spent | null>();
    const left: string[] = [];
    await eachInParallel(Object.keys(day.held), async (solveId) => {
      // Read before the server is asked: a solve that is started meanwhile was not gone.
      const state = reservations.heldStateOf(day, solveId, staleBefore);
      const trace = await this.look(solveId).catch(() => undefined);
      if (trace === null && state === 'left') left.push(solveId);
      if (trace === null && state === 'started') ended.set(solveId, null);
      if (trace && trace.status !== 'running') ended.set(solveId, trace);
    });
    return this.change(place, (now) => {
      const released = reservations.releaseLeft(now, left, staleBefore);
      const [settled] = reservations.settle(released, ended);
      const next = settled ?? released;
      return next === now ? [null, false] : [next, true];
    });
  }

  private change<Result>(
    place: string,
    work: (day: DayAccount) => readonly [next: DayAccount | null, result: Result],
  ): Promise<Result> {
    return changeRecord(this.store, place, daySchema, (day) => work(day ?? EMPTY_DAY));
  }

  /** Changes a key's documents one request at a time, so that requests of one process do not conflict. */
  private inTurn<Result>({ id }: Spender, work: () => Promise<Result>): Promise<Result> {
    const turns = this.turns.get(id) ?? new Turns(1);
    this.turns.set(id, turns);
    return turns.take(work);
  }
}

function unbooked(nanoUsd: number | null): DayReservation {
  const nothing = (): Promise<void> => Promise.resolve();
  return { nanoUsd, confirm: nothing, withdraw: nothing };
}

function spent(key: Spender, spending: DaySpending, askedNanoUsd: number | null, now: number): Refusal {
  const { heldNanoUsd } = spending;
  const usd = (nanoUsd: number): string => describeUsd(nanoUsd / 1e9);
  const asked = askedNanoUsd !== null && `this solve may cost up to ${usd(askedNanoUsd)}`;
  const facts = [
    `${key.kind ?? 'key'} ${JSON.stringify(key.name)} may spend ${describeUsd(key.usdPerDay ?? 0)} a day`,
    describeSpent(spending),
    `${usd(heldNanoUsd)} reserved for running solves`,
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
