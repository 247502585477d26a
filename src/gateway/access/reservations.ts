import { z } from 'zod';
import type { SolveTrace } from '../../protocol/solve';
import { knownNanoUsd, mostSpent } from '../../trace/cost';

// Reservations of a key on one day, without effects. A solve's reservation has one of three states:
//
//   none ── claim ──▶ held, starting ── confirm ──▶ held, started ── settle ──▶ ended
//    ▲                      │                             │                       │
//    └── withdraw the last ─┘                             └──── settle, forget ───┴── forget: the workflow is gone ─▶ none
//
// A request claims a reservation before it starts the workflow, and either confirms or withdraws its claim. Requests with
// one Idempotency-Key claim the same one, so that a refused request withdraws its own claim only.

const amounts = z.record(z.string(), z.int().min(0));

export const daySchema = z.object({
  /** Known cost of the solves that have ended. */
  spentNanoUsd: z.int().min(0),
  /** Counted on top of it, since a part of what they cost is unknown. */
  unknownNanoUsd: z.int().min(0).default(0),
  /** Whether the known cost is a lower bound. */
  isLowerBound: z.boolean().default(false),
  /** Reservation of each solve that has not ended, by solve id: the most that it may cost, in nano-USD. */
  held: amounts,
  /** Claims of requests that may yet start a held solve, by solve id and claim: when each was made, in epoch milliseconds. */
  starting: z.record(z.string(), amounts).default({}),
  /** Reservations of the latest solves that ended, so that a repeated request is recognized. */
  ended: amounts,
});

export type DayAccount = Readonly<z.infer<typeof daySchema>>;

/** A changed day, or null if nothing changed, and what the caller learns. */
type Changed<Result> = readonly [next: DayAccount | null, result: Result];

export const EMPTY_DAY: DayAccount = daySchema.parse({ spentNanoUsd: 0, held: {}, ended: {} });

/** Maximum number of entries in `ended`, since each change rewrites the whole document. */
const MOST_ENDED = 200;

export interface DaySpending extends Pick<DayAccount, 'spentNanoUsd' | 'unknownNanoUsd' | 'isLowerBound'> {
  readonly heldNanoUsd: number;
}

export function spendingOf({ spentNanoUsd, unknownNanoUsd, isLowerBound, held }: DayAccount): DaySpending {
  const heldNanoUsd = Object.values(held).reduce((sum, each) => sum + each, 0);
  return { spentNanoUsd, unknownNanoUsd, isLowerBound, heldNanoUsd };
}

export interface BudgetClaim {
  readonly solveId: string;
  readonly token: string;
  readonly madeAt: number;
  readonly budgetNanoUsd: number;
  /** null: all that is left. */
  readonly askedNanoUsd: number | null;
}

/** Amount granted; `started` if a workflow was started with this reservation, `full` if the day has no room for it. */
type Claimed = number | 'started' | 'full';

/** Whether a day has a reservation for a solve, or had one. */
export function knows({ held, ended }: DayAccount, solveId: string): boolean {
  return solveId in held || solveId in ended;
}

/** Claims a solve's reservation, which the first claim makes. */
export function claim(day: DayAccount, { solveId, token, madeAt, ...asked }: BudgetClaim): Changed<Claimed> {
  const claims = day.starting[solveId];
  if (knows(day, solveId) && claims === undefined) return [null, 'started'];
  const granted = day.held[solveId] ?? roomFor(day, asked);
  if (granted === null) return [null, 'full'];
  return [
    {
      ...day,
      held: { ...day.held, [solveId]: granted },
      starting: { ...day.starting, [solveId]: { ...claims, [token]: madeAt } },
    },
    granted,
  ];
}

function roomFor(
  day: DayAccount,
  { budgetNanoUsd, askedNanoUsd }: Pick<BudgetClaim, 'budgetNanoUsd' | 'askedNanoUsd'>,
): number | null {
  const { spentNanoUsd, unknownNanoUsd, heldNanoUsd } = spendingOf(day);
  const left = budgetNanoUsd - spentNanoUsd - unknownNanoUsd - heldNanoUsd;
  // A solve without a limit needs at least 1 nano-USD, so it is refused once the budget is used up.
  const granted = askedNanoUsd ?? Math.max(left, 1);
  return granted > left ? null : granted;
}

/** Marks a solve as started, whichever request did it. One that was taken for never started is held again. */
export function confirm(day: DayAccount, solveId: string, granted: number): Changed<void> {
  if (knows(day, solveId) && day.starting[solveId] === undefined) return [null, undefined];
  const held = { ...day.held, [solveId]: day.held[solveId] ?? granted };
  return [{ ...day, held, starting: without(day.starting, solveId) }, undefined];
}

/** Takes back the claim of a request that started nothing; the last one takes the reservation with it. */
export function withdraw(day: DayAccount, solveId: string, token: string): Changed<void> {
  const claims = day.starting[solveId] ?? {};
  if (claims[token] === undefined) return [null, undefined];
  const others = without(claims, token);
  if (Object.keys(others).length === 0) return [release(day, solveId), undefined];
  return [{ ...day, starting: { ...day.starting, [solveId]: others } }, undefined];
}

function release(day: DayAccount, solveId: string): DayAccount {
  return { ...day, held: without(day.held, solveId), starting: without(day.starting, solveId) };
}

type Spent = Pick<SolveTrace, 'costUsd' | 'costIsLowerBound'>;

/** Replaces reservations with what ended solves spent; null: unknown. The flag says whether there was any that day. */
export function settle(day: DayAccount, spent: ReadonlyMap<string, Spent | null>): Changed<boolean> {
  let next = day;
  for (const [solveId, trace] of spent) {
    const granted = next.held[solveId];
    if (granted === undefined) continue;
    const known = trace === null ? 0 : knownNanoUsd(trace);
    const ended = [...Object.entries(without(next.ended, solveId)), [solveId, granted] as const];
    next = {
      ...release(next, solveId),
      spentNanoUsd: next.spentNanoUsd + known,
      unknownNanoUsd: next.unknownNanoUsd + mostSpent(trace, granted) - known,
      isLowerBound: next.isLowerBound || (trace?.costIsLowerBound ?? true),
      ended: Object.fromEntries(ended.slice(-MOST_ENDED)),
    };
  }
  return next === day ? [null, false] : [next, true];
}

/** Forgets a started solve that the server no longer has. If it was never settled, all of its reservation counts. */
export function forget(day: DayAccount, solveId: string): Changed<void> {
  if (day.starting[solveId] !== undefined) return [null, undefined];
  const [settled] = settle(day, new Map([[solveId, null]]));
  const { ended, ...rest } = settled ?? day;
  return [{ ...rest, ended: without(ended, solveId) }, undefined];
}

/** State of a held solve: `starting` while a claim is recent, `left` if its requests died before they had an answer. */
export function heldStateOf(
  { starting }: DayAccount,
  solveId: string,
  staleBefore: number,
): 'starting' | 'left' | 'started' {
  const claims = starting[solveId];
  if (claims === undefined) return 'started';
  return Object.values(claims).some((madeAt) => madeAt >= staleBefore) ? 'starting' : 'left';
}

/** Releases reservations whose requests died before they started anything. */
export function releaseLeft(day: DayAccount, solveIds: readonly string[], staleBefore: number): DayAccount {
  const left = solveIds.filter((solveId) => heldStateOf(day, solveId, staleBefore) === 'left');
  return left.reduce(release, day);
}

function without<Value>(record: Readonly<Record<string, Value>>, name: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([each]) => each !== name));
}
