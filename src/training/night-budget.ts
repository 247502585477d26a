import { MAX_COST_USD } from '../protocol/bounds';

const MAX_HOURS = 24 * 7;

/** What is wrong with a budget that somebody sends to a night, in one sentence; null where nothing is. */
export function findBudgetProblem(budget: unknown): string | null {
  if (typeof budget !== 'object' || budget === null || Array.isArray(budget)) {
    return `a budget is an object { costUsd?, hours? }, not ${JSON.stringify(budget)}`;
  }
  const unknown = Object.keys(budget).filter((key) => key !== 'costUsd' && key !== 'hours');
  if (unknown.length > 0) return `a budget has no ${unknown.join(', ')}: name costUsd, hours, or both`;
  const { costUsd, hours } = budget as { costUsd?: unknown; hours?: unknown };
  if (costUsd !== undefined && costUsd !== null && !isWithin(costUsd, 0, MAX_COST_USD)) {
    return `costUsd is ${JSON.stringify(costUsd)}: expected a number from 0 to ${MAX_COST_USD}, or null for no limit`;
  }
  if (hours !== undefined && !isWithin(hours, 0, MAX_HOURS)) {
    return `hours is ${JSON.stringify(hours)}: expected a number from 0 to ${MAX_HOURS}`;
  }
  return null;
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}
