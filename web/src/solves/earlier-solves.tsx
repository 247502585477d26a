import { type ReactElement, useEffect } from 'react';
import { Problem } from '../parts/notice';
import type { Found } from './use-found';

interface EarlierSolvesProps {
  readonly found: Found;
  /** Whether words are sought: the gateway reads many solves for them, so only a person asks for more. */
  readonly isSearch: boolean;
  /** Whether the last known solve is nearly in sight. */
  readonly isNear: boolean;
}

/** Reads earlier solves as the reader scrolls near them; in a search or after an error, only on request. */
export function EarlierSolves({ found, isSearch, isNear }: EarlierSolvesProps): ReactElement | null {
  const { isAll, isPending, error, readEarlier } = found;
  const isDue = !isAll && !isSearch && isNear && !isPending && error === null;
  useEffect(() => {
    if (isDue) readEarlier();
  });
  if (isAll) return null;
  return (
    <>
      {(isSearch || error !== null) && (
        <button type="button" disabled={isPending} onClick={readEarlier}>
          {isPending ? 'Looking …' : 'Look further back'}
        </button>
      )}
      {error !== null && <Problem>Earlier solves cannot be read: {error.message}</Problem>}
    </>
  );
}
