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

/** The solve that a path names, or null. */
export function solveOfPath(path: string): string | null {
  const named = /^\/solves\/([^/]+)$/.exec(path)?.[1];
  if (named === undefined) return null;
  try {
    return decodeURIComponent(named);
  } catch {
    return null;
  }
}
