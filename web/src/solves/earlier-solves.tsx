import { type ReactElement, useEffect } from 'react';
import { useEarlierSolves } from '../api/queries';
import type { SolveList } from '../api/solve-list';
import { Problem } from '../parts/notice';

interface EarlierSolvesProps {
  readonly list: SolveList;
  readonly isFiltered: boolean;
  /** Whether the last known solve is nearly in sight. */
  readonly isNear: boolean;
}

/** Reads earlier solves as the reader scrolls near them; with a filter or after an error, only on request. */
export function EarlierSolves({ list, isFiltered, isNear }: EarlierSolvesProps): ReactElement | null {
  const { mutate, isPending, error } = useEarlierSolves();
  const isDue = !list.isAll && !isFiltered && isNear && !isPending && error === null;
  useEffect(() => {
    if (isDue) mutate(list);
  }, [isDue, list, mutate]);
  if (list.isAll) return null;
  const read = (): void => {
    mutate(list);
  };
  return (
    <>
      {(isFiltered || error !== null) && (
        <button type="button" disabled={isPending} onClick={read}>
          {isPending ? 'Looking …' : 'Look further back'}
        </button>
      )}
      {error !== null && <Problem>Earlier solves cannot be read: {error.message}</Problem>}
    </>
  );
}
