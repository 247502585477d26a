import type { ReactElement } from 'react';
import { roundsOf } from '../../../src/trace/run-tree';
import { Choice } from '../parts/choice';
import { useShown } from './context';
import { PlanUnderWay } from './plan-under-way';
import { RoundFrame } from './round-frame';

const VIEWS = [
  ['graph', 'Graph'],
  ['list', 'List'],
] as const;

/** Each plan as a graph of its steps, or as a list with its time line. */
export function Team(): ReactElement {
  const { solve, which, view, setView } = useShown();
  const rounds = roundsOf(solve);
  return (
    <div className="team">
      {rounds.some(({ plan }) => plan !== null) && (
        <Choice label={`Show plans as${which}`} options={VIEWS} chosen={view} onChoose={setView} />
      )}
      {rounds.length === 0 && <Planning status={solve.status} which={which} />}
      {rounds.map((round, index) => (
        <RoundFrame key={`${round.childId} ${round.round}`} round={round} number={index + 1} />
      ))}
    </div>
  );
}

function Planning({ status, which }: { readonly status: string; readonly which: string }): ReactElement {
  return (
    <section className="round planning" aria-label={`Round 1${which}`}>
      <header>
        <h2>Round 1</h2>
      </header>
      {status === 'running' ? (
        <PlanUnderWay childId={null} round={0} />
      ) : (
        <p className="faint">It ended before there was a plan.</p>
      )}
    </section>
  );
}
