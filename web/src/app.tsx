import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react';
import { hashKey, type QueryState, useQueryClient } from '@tanstack/react-query';
import { KEYS, useMe } from './api/queries';
import { Refused, reasonOf } from './api/request';
import type { Me } from './api/types';
import { Ask } from './ask/ask';
import { Boundary } from './parts/boundary';
import { ConnectionBar } from './parts/connection-bar';
import { Header } from './header';
import { Empty, Problem } from './parts/notice';
import { Link } from './parts/link';
import { namesBehind, usePath } from './route';
import { signInByLink } from './session';
import { SignIn } from './sign-in';
import { Solves } from './solves/solves';

const SolvePlace = lazy(() => import('./solve/solve-place'));
const ComparePlace = lazy(() => import('./solve/compare-place'));
const Learning = lazy(() => import('./learning/learning'));
const Evaluations = lazy(() => import('./evaluations/evaluations'));
const Evaluation = lazy(() => import('./evaluations/evaluation'));
const Money = lazy(() => import('./money/money'));

/** Sign-in by link, at module level so that it runs once: a link works only once. */
const signedIn = signInByLink().then(
  () => null,
  (error: unknown) => reasonOf(error),
);

export function App(): ReactElement {
  const [link, setLink] = useState<{ readonly problem: string | null } | null>(null);
  useEffect(() => {
    void signedIn.then((problem) => {
      setLink({ problem });
    });
  }, []);
  return (
    <>
      {link !== null && <SignedIn linkProblem={link.problem} />}
      <ConnectionBar />
    </>
  );
}

function SignedIn({ linkProblem }: { readonly linkProblem: string | null }): ReactElement | null {
  const client = useQueryClient();
  const { data: me, error } = useMe();
  const path = usePath();
  if (error instanceof Refused && error.status === 401) {
    const start = (): void => void client.resetQueries();
    return <SignIn problem={linkProblem} onDone={start} />;
  }
  if (me === undefined) return error === null ? null : <Problem>{error.message}</Problem>;
  return (
    <>
      <Header me={me} />
      <Boundary key={path}>
        <Suspense fallback={<main className="place" />}>
          <Place me={me} path={path} />
        </Suspense>
      </Boundary>
      <WatchSession />
    </>
  );
}

const ME = hashKey(KEYS.me);

/** Resets all queries, which leads to the sign-in page, when any query except `me` fails with status 401. */
function WatchSession(): null {
  const client = useQueryClient();
  useEffect(
    () =>
      client.getQueryCache().subscribe(({ query }) => {
        const { error, fetchStatus } = query.state as QueryState<unknown, Error | null>;
        const isOut = error instanceof Refused && error.status === 401 && fetchStatus === 'idle';
        if (isOut && query.queryHash !== ME) void client.resetQueries();
      }),
    [client],
  );
  return null;
}

function Place({ me, path }: { readonly me: Me; readonly path: string }): ReactElement {
  const [solve, other] = namesBehind('/solves', path);
  const [evaluation] = namesBehind('/evaluations', path);
  if (solve !== undefined && other !== undefined)
    return <ComparePlace key={path} ids={[solve, other]} me={me} />;
  if (solve !== undefined) return <SolvePlace key={solve} id={solve} me={me} />;
  if (evaluation !== undefined) return <Evaluation key={evaluation} id={evaluation} me={me} />;
  if (path === '/') return <Ask me={me} />;
  if (path === '/solves') return <Solves me={me} />;
  if (path === '/learning') return <Learning me={me} />;
  if (path === '/evaluations') return <Evaluations />;
  if (path === '/money') return <Money me={me} />;
  return (
    <main className="place">
      <Empty title="There is nothing here">
        <Link href="/">Ask a question</Link>, or look at the <Link href="/solves">solves</Link>.
      </Empty>
    </main>
  );
}
