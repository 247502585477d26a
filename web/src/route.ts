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

/** The path of the place that is shown. */
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
  return `${pathOfSolve(one)}/beside/${encodeURIComponent(other)}`;
}

/** The solves that a path names, the one that is shown or two beside each other; else none. */
export function solvesOfPath(path: string): readonly string[] {
  const [, one, other] = /^\/solves\/([^/]+)(?:\/beside\/([^/]+))?$/.exec(path) ?? [];
  try {
    return [one, other].flatMap((id) => (id === undefined ? [] : [decodeURIComponent(id)]));
  } catch {
    return [];
  }
}
