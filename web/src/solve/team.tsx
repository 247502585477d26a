import type { ReactElement } from 'react';
import { roundsOf } from '../../../src/trace/run-tree';
import { useShown } from './context';
import { RoundFrame } from './round-frame';
import { TimeLine } from './time-line';

/** Each plan as a graph, and a time line of the steps. */
export function Team(): ReactElement {
  const { solve } = useShown();
  const rounds = roundsOf(solve);
  return (
    <div className="team">
      {rounds.length === 0 && <Planning status={solve.status} />}
      {rounds.map((round, index) => (
        <RoundFrame key={`${round.childId} ${round.round}`} round={round} number={index + 1} />
      ))}
      <TimeLine />
    </div>
  );
}

function Planning({ status }: { readonly status: string }): ReactElement {
  return (
    <section className="round planning" aria-label="Round 1">
      <header>
        <h2>Round 1</h2>
      </header>
      <p className="faint">
        {status === 'running' ? 'The Conductor is writing a plan …' : 'It ended before there was a plan.'}
      </p>
    </section>
  );
}
