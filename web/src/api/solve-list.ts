import type { ListedSolve, SolvePage } from './types';

/** Most ended solves on a page of the list. */
export const PAGE = 100;

/** Solves as far back as they were read: running ones, then ended ones, each newest first. */
export interface SolveList extends SolvePage {
  /** Whether there are no earlier ended solves. */
  readonly isAll: boolean;
}

const hasEnded = ({ endedAt }: ListedSolve): boolean => endedAt !== null;

/** Puts the newest page before the solves that were read earlier. */
export function withEarlier(known: SolveList | undefined, newest: SolvePage): SolveList {
  const isAll = newest.runs.filter(hasEnded).length < PAGE;
  const ids = new Set(newest.runs.map(({ id }) => id));
  const ended = known?.runs.filter(hasEnded) ?? [];
  // If no known solve is on the newest page, solves between them may be missing: the list starts over.
  if (isAll || known === undefined || !ended.some(({ id }) => ids.has(id))) return { ...newest, isAll };
  return { ...known, unlisted: newest.unlisted, runs: inOrder(newest.runs, ended) };
}

/** Adds a page of solves that ended before all known ones. */
export function addEarlier(known: SolveList, page: SolvePage): SolveList {
  return { ...known, isAll: page.runs.length < PAGE, runs: inOrder(known.runs, page.runs) };
}

/** Returns the earliest end among known solves, or null if none has ended. */
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
