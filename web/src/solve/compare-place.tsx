import { lazy, type ReactElement, Suspense } from 'react';
import { useSolve } from '../api/queries';
import type { Me } from '../api/types';
import { Link } from '../parts/link';
import { useTitle } from '../parts/title';
import { pathOfSolve } from '../route';
import { Answer } from './answer';
import { COMPARED } from './compared-heads';
import { Differences } from './differences';
import { ShownSolve } from './shown-solve';
import { SolveHead } from './solve-head';
import { StepPanel } from './step-panel';
import { StepsCompared } from './steps-compared';
import { Team } from './team';
import { TimeLine } from './time-line';
import '../style/solve.css';

const AnswerChanges = lazy(() => import('./answer-changes'));

interface ComparePlaceProps {
  readonly ids: readonly [one: string, other: string];
  readonly me: Me;
}

const WHICH = [' of the first solve', ' of the second solve'] as const;

/** Page with two solves side by side: what differs, how their answers differ, and both in full. */
export default function ComparePlace({ ids, me }: ComparePlaceProps): ReactElement {
  useTitle('Compare');
  const [one, other] = [useSolve(ids[0]).data, useSolve(ids[1]).data];
  return (
    <main className="place compare">
      {one !== undefined && other !== undefined && (
        <header>
          <h1>Two solves</h1>
          <Differences one={one} other={other} />
          <StepsCompared one={one} other={other} />
          {one.answer !== null && other.answer !== null && (
            <Suspense>
              <AnswerChanges one={one.answer} other={other.answer} />
            </Suspense>
          )}
        </header>
      )}
      {ids.map((id, index) => (
        <section key={id} className="solve" aria-label={`Solve ${id}`}>
          <p className="faint">{COMPARED[index]}</p>
          <ShownSolve id={id} me={me} which={WHICH[index]}>
            {({ selected }, wait) => (
              <>
                <SolveHead wait={wait} />
                <Answer />
                <Team />
                <TimeLine />
                {selected !== null && <StepPanel place={selected} />}
                <p>
                  <Link href={pathOfSolve(id)}>Show only this solve</Link>
                </p>
              </>
            )}
          </ShownSolve>
        </section>
      ))}
    </main>
  );
}
