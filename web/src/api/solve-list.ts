import type { ListedSolve, SolvePage } from './types';

/** How many solves that have ended a page of the list holds. */
export const PAGE = 100;

/** Solves as far back as they were read: those that run, then those that have ended, each the newest first. */
export interface SolveList extends SolvePage {
  /** Whether none ended earlier. */
  readonly isAll: boolean;
}

const hasEnded = ({ endedAt }: ListedSolve): boolean => endedAt !== null;

/** The newest page, before what was read earlier. */
export function withEarlier(known: SolveList | undefined, newest: SolvePage): SolveList {
  const isAll = newest.runs.filter(hasEnded).length < PAGE;
  const ids = new Set(newest.runs.map(({ id }) => id));
  const ended = known?.runs.filter(hasEnded) ?? [];
  // Where a whole page ended between two looks, the ones between would be missing: the list begins anew.
  if (isAll || known === undefined || !ended.some(({ id }) => ids.has(id))) return { ...newest, isAll };
  return { ...known, unlisted: newest.unlisted, runs: inOrder(newest.runs, ended) };
}

/** A page of those that ended before all that are known. */
export function addEarlier(known: SolveList, page: SolvePage): SolveList {
  return { ...known, isAll: page.runs.length < PAGE, runs: inOrder(known.runs, page.runs) };
}

/** When the first of the known ones ended; null where none has. */
export function firstEnd({ runs }: SolveList): string | null {
  const ends = runs.flatMap(({ endedAt }) => endedAt ?? []);
  return ends.length === 0 ? null : ends.reduce((one, other) => (one < other ? one : other));
}

function inOrder(newer: readonly ListedSolve[], older: readonly ListedSolve[]): ListedSolve[] {
  const runs = new Map([...older, ...newer].map((run) => [run.id, run]));
  const ended = [...runs.values()].filter(hasEnded);
  ended.sort((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt));
  return [...newer.filter((run) => !hasEnded(run)), ...ended];
}
