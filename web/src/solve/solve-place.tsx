import { type ReactElement, useEffect, useMemo, useState } from 'react';
import { roundsOf } from '../../../src/trace/run-tree';
import type { TextPlace } from '../api/live-texts';
import { useSolve } from '../api/queries';
import type { Me } from '../api/types';
import { useLiveSolve } from '../api/use-live-solve';
import { Link } from '../parts/link';
import { Empty } from '../parts/notice';
import { Answer } from './answer';
import { ShownContext } from './context';
import { RoundFrame } from './round-frame';
import { SolveHead } from './solve-head';
import { Steering } from './steering';
import { StepPanel } from './step-panel';
import { TimeLine } from './time-line';
import '../style/solve.css';

/** One solve: the team at work, and in the margin what it says. */
export default function SolvePlace({ id, me }: { readonly id: string; readonly me: Me }): ReactElement {
  const { data: solve, error } = useSolve(id);
  const { texts, wait } = useLiveSolve(id);
  const [selected, select] = useState<TextPlace | null>(null);
  useEscape(() => {
    select(null);
  });
  const shown = useMemo(() => solve && { solve, me, texts, selected, select }, [solve, me, texts, selected]);
  if (shown === undefined) {
    return (
      <main className="place">
        {error !== null && (
          <Empty title="This solve cannot be shown">
            {error.message}. <Link href="/solves">See all solves</Link>
          </Empty>
        )}
      </main>
    );
  }
  const rounds = roundsOf(shown.solve);
  return (
    <ShownContext value={shown}>
      <main className="place solve">
        <SolveHead wait={wait} />
        <div className="solve-columns">
          <div className="team">
            {rounds.length === 0 && <Planning status={shown.solve.status} />}
            {rounds.map((round, index) => (
              <RoundFrame key={`${round.childId} ${round.round}`} round={round} number={index + 1} />
            ))}
            <TimeLine />
          </div>
          <aside>
            {selected !== null && <StepPanel place={selected} />}
            <Answer />
          </aside>
        </div>
        <Steering />
      </main>
    </ShownContext>
  );
}

function Planning({ status }: { readonly status: string }): ReactElement {
  return (
    <section className="round planning" aria-label="Round 1">
      <header>
        <h2>Round 1</h2>
      </header>
      <p className="faint">
        {status === 'running' ? 'The Conductor writes a plan …' : 'It ended before there was a plan.'}
      </p>
    </section>
  );
}

function useEscape(work: () => void): void {
  useEffect(() => {
    const press = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') work();
    };
    window.addEventListener('keydown', press);
    return () => {
      window.removeEventListener('keydown', press);
    };
  });
}
