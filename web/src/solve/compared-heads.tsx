import type { ReactElement } from 'react';
import type { Solve } from '../api/types';

/** Names of two solves that stand side by side, in the order of their columns. */
export const COMPARED = ['First solve', 'Second solve'] as const;

interface ComparedHeadsProps {
  /** What the rows are of. */
  readonly rows: string;
  readonly one: Solve;
  readonly other: Solve;
}

/** Heads of a table that compares two solves: which column is which, and when each started. */
export function ComparedHeads({ rows, one, other }: ComparedHeadsProps): ReactElement {
  return (
    <thead>
      <tr>
        <th scope="col">{rows}</th>
        {[one, other].map(({ startedAt }, index) => (
          <th key={index} scope="col">
            <strong>{COMPARED[index]}</strong>{' '}
            {startedAt !== undefined && (
              <time dateTime={startedAt}>{new Date(startedAt).toLocaleString()}</time>
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}
