import type { ReactElement } from 'react';
import type { Me } from '../api/types';
import { Answer } from './answer';
import { EarlierTurns, FollowUp } from './conversation';
import { ShownSolve } from './shown-solve';
import { SolveHead } from './solve-head';
import { Steering } from './steering';
import { StepPanel } from './step-panel';
import { Team } from './team';
import '../style/solve.css';

/** Page of one solve: the team's plans, and beside them the selected step and the answer. */
export default function SolvePlace({ id, me }: { readonly id: string; readonly me: Me }): ReactElement {
  return (
    <main className="place solve">
      <ShownSolve id={id} me={me}>
        {({ selected }, wait) => (
          <>
            <SolveHead wait={wait} />
            <EarlierTurns />
            <div className="solve-columns">
              <Team />
              <aside>
                {selected !== null && <StepPanel place={selected} />}
                <Answer />
                <FollowUp />
              </aside>
            </div>
            <Steering />
          </>
        )}
      </ShownSolve>
    </main>
  );
}
