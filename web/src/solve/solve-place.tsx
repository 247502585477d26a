import { type ReactElement, useState } from 'react';
import type { StepPlace } from '../api/live-texts';
import type { Me } from '../api/types';
import { Answer } from './answer';
import { EarlierTurns, FollowUp } from './conversation';
import { ShownSolve } from './shown-solve';
import { SolveHead } from './solve-head';
import { Steering } from './steering';
import { StepPanel } from './step-panel';
import { Team } from './team';
import { TimeLine } from './time-line';
import { Told } from './told';
import '../style/solve.css';

/** Page of one solve: the team at work, or the answer that it found. */
export default function SolvePlace({ id, me }: { readonly id: string; readonly me: Me }): ReactElement {
  return (
    <main className="place solve">
      <ShownSolve id={id} me={me}>
        {({ solve, selected }, wait) => (
          <>
            <SolveHead wait={wait} />
            <EarlierTurns />
            {solve.answer === null ? (
              <AtWork selected={selected} />
            ) : (
              <Finished key="finished" selected={selected} />
            )}
            <Steering />
            <Told />
          </>
        )}
      </ShownSolve>
    </main>
  );
}

interface PartsProps {
  readonly selected: StepPlace | null;
}

/** While there is no answer, the team is the page; beside it the selected step, and the answer as it grows. */
function AtWork({ selected }: PartsProps): ReactElement {
  return (
    <div className="solve-columns">
      <div className="reading">
        <Team />
        <TimeLine />
      </div>
      <aside>
        {selected !== null && <StepPanel place={selected} />}
        <Answer />
      </aside>
    </div>
  );
}

/** Width from which there is room for the team below the answer without scrolling past it, in pixels. */
const WIDE_PX = 600;

/** Once there is an answer, it is the page, with its time line; the team that made it follows, folded on a phone. */
function Finished({ selected }: PartsProps): ReactElement {
  const [isOpen, setOpen] = useState(() => window.innerWidth > WIDE_PX);
  return (
    <div className="solve-columns done">
      <div className="reading">
        <Answer />
        <FollowUp />
        <details
          className="made-by"
          open={isOpen}
          onToggle={(event) => {
            setOpen(event.currentTarget.open);
          }}
        >
          <summary>The team that made it</summary>
          {isOpen && <Team />}
        </details>
      </div>
      <aside>{selected === null ? <TimeLine /> : <StepPanel place={selected} />}</aside>
    </div>
  );
}
