import { memo, type ReactElement } from 'react';
import type { ListedSolve, Me } from '../api/types';
import { describeCost, describeDuration } from '../../../src/trace/describe';
import { Age } from '../parts/age';
import { Link } from '../parts/link';
import { stateOfRun, StateMark } from '../parts/state-mark';
import { pathOfSolve } from '../route';

export const ROW_PX = 44;

/** Names of the columns, in the order of a row's cells. */
export const COLUMNS = [
  ['state', 'State'],
  ['question', 'Question'],
  ['trouble', 'Note'],
  ['workers', 'Workers'],
  ['cost', 'Cost'],
  ['took', 'Took'],
  ['age', 'Started'],
  ['by', 'By'],
] as const;

interface RowProps {
  readonly solve: ListedSolve;
  readonly me: Me;
  readonly now: number;
  readonly index: number;
  readonly isActive: boolean;
}

/** A solve in the list; as the list scrolls, only rows that come into sight are drawn. */
export const SolveRow = memo(function SolveRow({ solve, me, now, index, isActive }: RowProps): ReactElement {
  const { id, question, costUsd, costIsLowerBound, startedAt, endedAt, status, waitsFor, workers } = solve;
  const cells: Readonly<Record<(typeof COLUMNS)[number][0], ReactElement | string | null>> = {
    state: <StateMark state={stateOfRun(status, waitsFor)} />,
    question: (
      <Link href={pathOfSolve(id)} tabIndex={-1} dir="auto">
        {question ?? 'A question that this gateway cannot read'}
      </Link>
    ),
    trouble: <Trouble solve={solve} />,
    workers: workers.join(', '),
    cost: costUsd === null ? '' : describeCost({ costUsd, costIsLowerBound }),
    took: describeDuration(startedAt, endedAt, new Date(Math.max(now, Date.parse(startedAt))).toISOString()),
    age: (
      <>
        <Age at={startedAt} now={now} /> ago
      </>
    ),
    by: whose(id, me),
  };
  return (
    <div
      id={`solve-${index}`}
      role="row"
      // The heads are the first row.
      aria-rowindex={index + 2}
      aria-selected={isActive}
      className={isActive ? 'row active' : 'row'}
      style={{ transform: `translateY(${index * ROW_PX}px)` }}
    >
      {COLUMNS.map(([name]) => (
        <span key={name} role="gridcell" className={name}>
          {cells[name]}
        </span>
      ))}
    </div>
  );
});

/** Reason why a solve failed or waits. */
function Trouble({
  solve: { problems, waitsFor, hasWorker },
}: {
  readonly solve: ListedSolve;
}): ReactElement | null {
  if (waitsFor === 'approval') return <span className="tag asks">waits for you</span>;
  if (waitsFor === 'caller') return <span className="tag">waits for its caller</span>;
  if (waitsFor === 'limit') return <span className="tag">waits for a limit</span>;
  if (waitsFor === 'store' || waitsFor === 'pause')
    return (
      <span className="tag" title={problems[0]}>
        {waitsFor === 'store' ? 'waits for the store' : 'paused in Temporal'}
      </span>
    );
  if (hasWorker === false) return <span className="tag">no worker</span>;
  const [problem] = problems;
  if (problem === undefined) return null;
  return (
    <span className="tag" title={problem}>
      {problem}
    </span>
  );
}

/** Returns who started a solve: an id of the gateway contains the id of the key. */
function whose(id: string, { keyId }: Me): string {
  const by = /^gw-([0-9a-z]{10})-/.exec(id)?.[1];
  if (by === undefined) return 'command line';
  return by === keyId ? 'you' : by;
}
