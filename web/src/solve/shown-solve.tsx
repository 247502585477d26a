import { type ReactElement, type ReactNode, useEffect } from 'react';
import { useSolve } from '../api/queries';
import type { Me } from '../api/types';
import { useLiveSolve, type Wait } from '../api/use-live-solve';
import { Link } from '../parts/link';
import { Empty } from '../parts/notice';
import { type Shown, ShownContext } from './context';
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
  useEscape(() => {
    select(null);
  });
  if (solve !== undefined) {
    const shown = { solve, me, which, texts, thoughts, selected, select };
    return <ShownContext value={shown}>{children(shown, wait)}</ShownContext>;
  }
  return error === null ? null : (
    <Empty title="This solve cannot be shown">
      {error.message}. <Link href="/solves">See all solves</Link>
    </Empty>
  );
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
