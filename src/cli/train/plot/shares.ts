import { GREY, hueOf } from './palette';
import type { Curve } from './panel';

/** So many shares can be told apart; the rest is summed up. */
const MOST = 6;
const OTHERS = 'others';

/** How something was shared out in one cycle, by name. A name that is missing had nothing. */
export type Shares = Readonly<Record<string, number>>;

/**
 * Curves of shares over the cycles, the largest of all cycles first.
 *
 * @param order names that come first, in this order, where there are any of them
 */
export function shareCurves(shares: readonly Shares[], order: readonly string[] = []): Curve[] {
  const names = rank(shares, order);
  const shown = names.length > MOST ? names.slice(0, MOST - 1) : names;
  const rest = names.slice(shown.length);
  const curves = shown.map((name, index) => ({
    name,
    colour: hueOf(index),
    values: shares.map((share) => share[name] ?? 0),
  }));
  if (rest.length === 0) return curves;
  const values = shares.map((share) => rest.reduce((sum, name) => sum + (share[name] ?? 0), 0));
  return [...curves, { name: OTHERS, colour: GREY, values }];
}

function rank(shares: readonly Shares[], order: readonly string[]): string[] {
  const totals = new Map<string, number>();
  for (const share of shares) {
    for (const [name, value] of Object.entries(share)) totals.set(name, (totals.get(name) ?? 0) + value);
  }
  const known = order.filter((name) => totals.has(name));
  const others = [...totals].filter(([name, total]) => total > 0 && !order.includes(name));
  others.sort(([nameA, totalA], [nameB, totalB]) => totalB - totalA || (nameA < nameB ? -1 : 1));
  return [...known, ...others.map(([name]) => name)];
}
