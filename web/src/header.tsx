import { type ReactElement, useEffect, useRef } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { Me } from './api/types';
import { Link } from './parts/link';
import { goTo, usePath } from './route';
import { signOut } from './session';

const PLACES = [
  ['/', 'Ask'],
  ['/solves', 'Solves'],
  ['/learning', 'Learning'],
  ['/evaluations', 'Evaluations'],
  ['/money', 'Money'],
] as const;

export function Header({ me }: { readonly me: Me }): ReactElement {
  const path = usePath();
  const client = useQueryClient();
  const leave = async (): Promise<void> => {
    await signOut();
    goTo('/');
    await client.resetQueries();
  };
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // A phone is too narrow to show all links at once.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  const isHere = (place: string): boolean =>
    path === place || (place !== '/' && path.startsWith(`${place}/`));
  return (
    <header className="top">
      <Link className="brand" href="/" aria-label="conductor, ask a question">
        <img src="/mark.svg" alt="" width="16" height="16" /> <span>conductor</span>
      </Link>
      <nav aria-label="Places" ref={nav}>
        {PLACES.map(([place, name]) => (
          <Link key={place} href={place} aria-current={isHere(place) ? 'page' : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      <span className="who" title={me.isAdmin ? 'Admin key: sees all solves' : 'Sees only its own solves'}>
        {me.name}
      </span>
      <button type="button" className="quiet" onClick={() => void leave()}>
        Sign out
      </button>
    </header>
  );
}
