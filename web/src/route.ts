import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('popstate', listener);
  };
}

/** Returns the current path. */
export function usePath(): string {
  return useSyncExternalStore(listen, () => window.location.pathname);
}

/** Returns the query of the current address, with its `?`. */
export function useQueryOfPath(): string {
  return useSyncExternalStore(listen, () => window.location.search);
}

/** Changes the query of the current address, without a step in the history of the browser. */
export function replaceQuery(query: string): void {
  window.history.replaceState(null, '', window.location.pathname + query);
  tell();
}

export function goTo(path: string): void {
  if (path === window.location.pathname + window.location.search) return;
  window.history.pushState(null, '', path);
  window.scrollTo(0, 0);
  tell();
}

/** Notes where a person is on this page, for when the browser comes back to it. */
export function leaveMark(mark: object): void {
  window.history.replaceState(mark, '');
}

/** Returns where a person was on this page when leaving it; undefined on a first visit. */
export function markLeft(): unknown {
  return window.history.state as unknown;
}

export function pathOfSolve(id: string): string {
  return `/solves/${encodeURIComponent(id)}`;
}

export function pathOfBoth(one: string, other: string): string {
  return `${pathOfSolve(one)}/${encodeURIComponent(other)}`;
}

export function pathOfEvaluation(id: string): string {
  return `/evaluations/${encodeURIComponent(id)}`;
}

/** Returns the ids after a place in a path: of a solve, two solves to compare, or an evaluation; empty if none. */
export function namesBehind(place: '/solves' | '/evaluations', path: string): readonly string[] {
  if (!path.startsWith(`${place}/`)) return [];
  const names = path.slice(place.length + 1).split('/');
  try {
    return names.filter(Boolean).map(decodeURIComponent);
  } catch {
    return [];
  }
}
