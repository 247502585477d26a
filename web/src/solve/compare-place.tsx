import type { ReactElement } from 'react';
import type { Me } from '../api/types';
import { Link } from '../parts/link';
import { pathOfSolve } from '../route';
import { Answer } from './answer';
import { ShownSolve } from './shown-solve';
import { SolveHead } from './solve-head';
import { StepPanel } from './step-panel';
import { Team } from './team';
import '../style/solve.css';

interface ComparePlaceProps {
  readonly ids: readonly [one: string, other: string];
  readonly me: Me;
}

/** Page with two runs of a question side by side: their plans, costs and answers. */
export default function ComparePlace({ ids, me }: ComparePlaceProps): ReactElement {
  return (
    <main className="place compare">
      {ids.map((id) => (
        <section key={id} className="solve" aria-label={`Solve ${id}`}>
          <ShownSolve id={id} me={me}>
            {({ selected }, wait) => (
              <>
                <SolveHead wait={wait} />
                <Answer />
                <Team />
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
