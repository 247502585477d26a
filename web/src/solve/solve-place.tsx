import { type ReactElement, useState } from 'react';
import type { StepPlace } from '../api/live-texts';
import type { Me } from '../api/types';
import { TrialNotice } from '../ask/trial-notice';
import { Answer } from './answer';
import { EarlierTurns, FollowUp } from './conversation';
import { useShown } from './context';
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
        {({ selected }, wait) => (
          <>
            <SolveHead wait={wait} />
            {me.isTrial && <TrialNotice />}
            <EarlierTurns />
            <Body selected={selected} />
            <Steering />
            <Told />
          </>
        )}
      </ShownSolve>
    </main>
  );
}

/**
 * While there is no answer, the team is the page, with its time line; beside it the selected step, and the answer as it
 * grows. Once there is an answer, it is the page. The team stays the same part of it, so that nothing that was opened
 * closes.
 */
function Body({ selected }: { readonly selected: StepPlace | null }): ReactElement {
  const { solve } = useShown();
  const isDone = solve.answer !== null;
  return (
    <div className={isDone ? 'solve-columns done' : 'solve-columns'}>
      <div className="reading">
        {isDone && <Answer />}
        {isDone && <FollowUp />}
        <TeamFold isDone={isDone} />
        {!isDone && <TimeLine />}
      </div>
      <aside>
        {selected !== null && <StepPanel place={selected} />}
        {!isDone && <Answer />}
        {isDone && selected === null && <TimeLine />}
      </aside>
    </div>
  );
}

/** Width above which there is room for the team below the answer without scrolling past it, in pixels. */
const WIDE_PX = 600;

/** The team, which may be folded once it is done, and is on a phone; a phone that is turned changes nothing. */
function TeamFold({ isDone }: { readonly isDone: boolean }): ReactElement {
  const [chosen, choose] = useState<boolean | null>(null);
  const [isWide] = useState(() => window.innerWidth > WIDE_PX);
  const isOpen = !isDone || (chosen ?? isWide);
  return (
    <details
      className="made-by"
      open={isOpen}
      onToggle={(event) => {
        if (isDone) choose(event.currentTarget.open);
      }}
    >
      <summary hidden={!isDone}>The team that made it</summary>
      {isOpen && <Team />}
    </details>
  );
}
