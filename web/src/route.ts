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

export function goTo(path: string): void {
  if (path === window.location.pathname) return;
  window.history.pushState(null, '', path);
  window.scrollTo(0, 0);
  tell();
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
