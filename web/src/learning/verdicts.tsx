import type { ReactElement } from 'react';
import type { Verdict } from '../../../src/grading/verdict';
import { tally } from '../../../src/statistics/tally';

/** Shapes that tell verdicts apart without colour. */
const MARKS: Readonly<Record<Verdict, readonly [shape: string, kind: string]>> = {
  correct: ['✓', 'done'],
  wrong: ['✕', 'failed'],
  unparseable: ['?', 'cancelled'],
  ungraded: ['·', 'waiting'],
};

/** Counts of each verdict, e.g. `✓ 2 ✕ 1`; a single verdict in words. */
export function Verdicts({ verdicts }: { readonly verdicts: readonly Verdict[] }): ReactElement {
  const counts = tally(verdicts);
  const found = (Object.keys(MARKS) as Verdict[]).filter((verdict) => (counts[verdict] ?? 0) > 0);
  return (
    <span className="verdicts">
      {found.map((verdict) => {
        const [shape, kind] = MARKS[verdict];
        return (
          <span key={verdict} className={`mark-${kind}`} title={verdict}>
            <span aria-hidden="true">{shape}</span> {verdicts.length > 1 && counts[verdict]}{' '}
            <span className={verdicts.length > 1 ? 'hidden' : undefined}>{verdict}</span>
          </span>
        );
      })}
    </span>
  );
}
