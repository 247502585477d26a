import { type ReactElement, useState } from 'react';
import { describeCost } from '../../../src/trace/describe';
import type { ListedSolve, Solve } from '../api/types';
import { Link } from '../parts/link';
import { StateMark, stateOfRun } from '../parts/state-mark';
import { pathOfBoth } from '../route';
import { ALL } from '../solves/chosen';
import { useFound } from '../solves/use-found';

const MOST_OTHERS = 20;

/** Links to compare this solve with another: first those of its question, then all others. */
export function OtherRuns({ solve }: { readonly solve: Solve }): ReactElement | null {
  const [words, setWords] = useState('');
  const { runs, list, isPending } = useFound({ ...ALL, words }, null);
  if (list === undefined || list.runs.every(({ id }) => id === solve.id)) return null;
  const isOfQuestion = (run: ListedSolve): boolean => hasQuestion(run, solve.question);
  const found = runs.filter(({ id }) => id !== solve.id);
  const inOrder = [...found.filter(isOfQuestion), ...found.filter((run) => !isOfQuestion(run))];
  return (
    <details className="others">
      <summary>Compare</summary>
      <div>
        <input
          type="search"
          aria-label="Filter solves to compare with"
          placeholder="Compare with …"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
          }}
        />
        <ul>
          {inOrder.slice(0, MOST_OTHERS).map((run) => (
            <li key={run.id}>
              <Link href={pathOfBoth(solve.id, run.id)}>
                <StateMark state={stateOfRun(run.status, run.waitsFor)} />{' '}
                {isOfQuestion(run) ? 'the same question' : run.question},{' '}
                {new Date(run.startedAt).toLocaleString()}
                {run.costUsd !== null && `, ${describeCost({ ...run, costUsd: run.costUsd })}`}
              </Link>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p className="faint">{isPending ? 'Looking …' : 'No solve matches.'}</p>}
      </div>
    </details>
  );
}

/** Whether a run has this question; the list clips long ones. */
function hasQuestion({ question: listed }: ListedSolve, question: string): boolean {
  if (listed === null) return false;
  return listed === question || (listed.endsWith('…') && question.startsWith(listed.slice(0, -1)));
}
