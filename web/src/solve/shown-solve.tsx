import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { useSolve } from '../api/queries';
import { Refused } from '../api/request';
import type { Me, Solve } from '../api/types';
import { useLiveSolve, type Wait } from '../api/use-live-solve';
import { Link } from '../parts/link';
import { Empty } from '../parts/notice';
import { type Shown, ShownContext, type TeamView } from './context';
import { useSelected } from './selected';

interface ShownSolveProps {
  readonly id: string;
  readonly me: Me;
  /** See `Shown`. */
  readonly which?: string;
  readonly children: (shown: Shown, wait: Wait | null) => ReactNode;
}

/** Reads and follows a solve for all components that show it. Escape closes the selected step. */
export function ShownSolve({ id, me, which = '', children }: ShownSolveProps): ReactElement | null {
  const { data: solve, error } = useSolve(id);
  const { texts, thoughts, wait } = useLiveSolve(id);
  const [selected, select] = useSelected(id);
  const [chosen, setView] = useState<TeamView | null>(null);
  useEscape(() => {
    select(null);
  });
  if (solve !== undefined) {
    const view = chosen ?? usualView(solve);
    const shown = { solve, me, which, texts, thoughts, selected, select, view, setView };
    return <ShownContext value={shown}>{children(shown, wait)}</ShownContext>;
  }
  return error === null ? null : (
    <Empty title="This solve cannot be shown">
      {error instanceof Refused && error.status === 404
        ? `There is no solve “${id}” that your key may see`
        : error.message}
      . <Link href="/solves">See all solves</Link>
    </Empty>
  );
}

/** Most steps of a plan that is shown as a graph unless a person asks for it. */
const MOST_IN_GRAPH = 12;

function usualView({ rounds }: Solve): TeamView {
  return rounds.some(({ steps }) => steps.length > MOST_IN_GRAPH) ? 'list' : 'graph';
}

function useEscape(work: () => void): void {
  useEffect(() => {
    const press = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') work();
    };
    window.addEventListener('keydown', press);
    return () => {
      window.removeEventListener('keydown', press);
    };
  });
}
