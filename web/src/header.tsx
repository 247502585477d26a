import type { ReactElement } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { counted } from '../../src/trace/describe';
import { runStateOf } from '../../src/trace/run-filter';
import { useSolves } from './api/queries';
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

/** Poll interval of what waits for a person, on pages that do not show the list. */
const SELDOM_MS = 15_000;

/** Number of solves that wait for a person. */
function Waiting(): ReactElement | null {
  const { data } = useSolves(SELDOM_MS);
  const count = data?.runs.filter((solve) => runStateOf(solve) === 'waiting').length ?? 0;
  return count === 0 ? null : (
    <span className="badge" title={`${counted(count, 'solve')} waiting for you`}>
      {count}
    </span>
  );
}

export function Header({ me }: { readonly me: Me }): ReactElement {
  const path = usePath();
  const client = useQueryClient();
  const leave = async (): Promise<void> => {
    await signOut();
    goTo('/');
    await client.resetQueries();
  };
  const isHere = (place: string): boolean =>
    path === place || (place !== '/' && path.startsWith(`${place}/`));
  return (
    <header className="top">
      <Link className="brand" href="/" aria-label="conductor, ask a question">
        <img src="/mark.svg" alt="" width="16" height="16" /> <span>conductor</span>
      </Link>
      <nav aria-label="Places">
        {PLACES.map(([place, name]) => (
          <Link key={place} href={place} aria-current={isHere(place) ? 'page' : undefined}>
            {name}
            {place === '/solves' && <Waiting />}
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
