import type { ReactElement } from 'react';
import { describeCost } from '../../../src/trace/describe';
import { useSolves } from '../api/queries';
import type { ListedSolve, Solve } from '../api/types';
import { Link } from '../parts/link';
import { StateMark, stateOfRun } from '../parts/state-mark';
import { pathOfBoth } from '../route';

/** Links to compare this solve with other runs of its question. */
export function OtherRuns({ solve }: { readonly solve: Solve }): ReactElement | null {
  const { data } = useSolves(false);
  const others = data?.runs.filter((run) => run.id !== solve.id && isOfQuestion(run, solve.question)) ?? [];
  if (others.length === 0) return null;
  return (
    <details className="others">
      <summary>Compare</summary>
      <ul>
        {others.slice(0, MOST_OTHERS).map((run) => (
          <li key={run.id}>
            <Link href={pathOfBoth(solve.id, run.id)}>
              <StateMark state={stateOfRun(run.status, run.waitsFor)} />{' '}
              {new Date(run.startedAt).toLocaleString()}
              {run.costUsd !== null && `, ${describeCost({ ...run, costUsd: run.costUsd })}`}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}

const MOST_OTHERS = 20;

/** Whether a run has this question; the list clips long ones. */
function isOfQuestion({ question: listed }: ListedSolve, question: string): boolean {
  if (listed === null) return false;
  return listed === question || (listed.endsWith('…') && question.startsWith(listed.slice(0, -1)));
}
