import type { ReactElement } from 'react';
import type { ListedSolve, Me } from '../api/types';
import { describeCost } from '../../../src/trace/describe';
import { Age } from '../parts/age';
import { Link } from '../parts/link';
import { stateOfRun, StateMark } from '../parts/state-mark';
import { pathOfSolve } from '../route';

export const ROW_PX = 44;

interface RowProps {
  readonly solve: ListedSolve;
  readonly me: Me;
  readonly now: number;
  readonly index: number;
  readonly count: number;
  readonly isActive: boolean;
}

export function SolveRow({ solve, me, now, index, count, isActive }: RowProps): ReactElement {
  const { id, question, costUsd, costIsLowerBound, startedAt, status, waitsFor } = solve;
  return (
    <Link
      id={`solve-${index}`}
      className={isActive ? 'row active' : 'row'}
      style={{ transform: `translateY(${index * ROW_PX}px)` }}
      href={pathOfSolve(id)}
      role="option"
      aria-selected={isActive}
      aria-posinset={index + 1}
      aria-setsize={count}
      tabIndex={-1}
    >
      <StateMark state={stateOfRun(status, waitsFor)} />
      <span className="question" dir="auto">
        {question ?? 'A question that this gateway cannot read'}
      </span>
      <Trouble solve={solve} />
      <span className="cost">{costUsd === null ? '' : describeCost({ costUsd, costIsLowerBound })}</span>
      <span className="age">
        <Age at={startedAt} now={now} />
      </span>
      <span className="by">{whose(id, me)}</span>
    </Link>
  );
}

/** Reason why a solve failed or waits. */
function Trouble({
  solve: { problems, waitsFor, hasWorker },
}: {
  readonly solve: ListedSolve;
}): ReactElement | null {
  if (waitsFor === 'approval') return <span className="tag asks">waits for you</span>;
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
