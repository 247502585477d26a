import type { ListedSolve, SolvePage } from './types';

/** Most ended solves on a page of the list. */
export const PAGE = 100;

/** Solves as far back as they were read: running ones, then ended ones, each newest first. */
export type SolveList = SolvePage;

const hasEnded = ({ endedAt }: ListedSolve): boolean => endedAt !== null;

/** Puts the newest page before the solves that were read earlier. */
export function withEarlier(known: SolveList | undefined, newest: SolvePage): SolveList {
  const ids = new Set(newest.runs.map(({ id }) => id));
  const ended = known?.runs.filter(hasEnded) ?? [];
  // If no known solve is on the newest page, solves between them may be missing: the list starts over.
  if (newest.earlier === null || known === undefined || !ended.some(({ id }) => ids.has(id))) return newest;
  return { ...known, unlisted: newest.unlisted, runs: inOrder(newest.runs, ended) };
}

/** Adds a page of solves that ended before all known ones. */
export function addEarlier(known: SolveList, { runs, earlier }: SolvePage): SolveList {
  return { ...known, earlier, runs: inOrder(known.runs, runs) };
}

/** Puts older solves behind newer ones, each once. */
export function inOrder(newer: readonly ListedSolve[], older: readonly ListedSolve[]): ListedSolve[] {
  const runs = new Map([...older, ...newer].map((run) => [run.id, run]));
  const ended = [...runs.values()].filter(hasEnded);
  ended.sort((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt));
  return [...newer.filter((run) => !hasEnded(run)), ...ended];
}
