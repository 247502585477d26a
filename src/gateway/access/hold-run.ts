import type { SolveRequest } from '../../client';
import { nameOfCard } from '../../config/cards';
import { haveNoPrice, resolveRun, unpricedOf } from '../../config/resolve-run';
import type { Config } from '../../config/schema';
import { badRequest, type Refusal } from '../refusal';
import type { DayBudgets, DayReservation, Spender } from './day-budget';
import type { Key } from './keys';
import { refuseExcess, rightsOf } from './rights';

/** Whoever has runs started: a key, or a namespace. */
export type Holder = Spender & Pick<Key, 'isAdmin' | 'models'>;

/** Limits of a run to start, and what its holder may use. */
export type Held = Pick<SolveRequest, 'limits' | 'rights'>;

/** A run that may start within its holder's budget. */
export interface HeldRun {
  readonly held: Held;
  readonly reservation: DayReservation;
}

/** Returns the limits of a run and its holder's rights. @throws NotAllowedError for a limit that the holder may not set */
export function heldBy(holder: Holder, config: Config, limits: SolveRequest['limits']): Held {
  const held = { limits, rights: rightsOf(holder, config) };
  refuseExcess(config, held);
  return held;
}

/**
 * Holds the most that a run may cost from the budget of whoever has it started. Every run of a holder passes here.
 * Returns null if the run was started already.
 * @param held what `heldBy` returned
 * @throws Refusal if the budget has no room, or cannot be enforced since a model has no price
 */
export async function holdRun(
  { config, budgets }: { readonly config: Config; readonly budgets: DayBudgets },
  holder: Holder,
  id: string,
  { pool, held }: Pick<SolveRequest, 'pool'> & { readonly held: Held },
): Promise<HeldRun | null> {
  const { usdPerDay, kind = 'key', name } = holder;
  const { limits } = held;
  const unpriced = usdPerDay === null ? [] : unpricedOf(resolveRun(config, { pool, limits }));
  if (unpriced.length > 0) throw noPrice(`the budget of ${kind} ${name}`, unpriced);
  const usd = limits?.costUsd ?? config.limits.costUsd;
  const reservation = await budgets.reserve(holder, id, usd === null ? null : Math.round(usd * 1e9));
  return reservation && { held: withReservation(held, reservation.nanoUsd), reservation };
}

/** Limits the cost of a run, now and later, to what is reserved for it; null: its holder has no budget. */
function withReservation({ limits, rights }: Held, nanoUsd: number | null): Held {
  if (nanoUsd === null) return { limits, rights };
  const held = rights && { ...rights, limits: { ...rights.limits, nanoUsd } };
  return { limits: { ...limits, costUsd: nanoUsd / 1e9 }, rights: held };
}

/** Error for an amount that cannot be enforced. @param what the amount that models without a price break */
export function noPrice(what: string, unpriced: ReturnType<typeof unpricedOf>): Refusal {
  const names = haveNoPrice(unpriced.map(nameOfCard));
  const remedy = 'leave it out of the pool, or have the operator give it a price';
  return badRequest(`${what} cannot be enforced: ${names}; ${remedy}`, 'conductor', 'price_unknown');
}
