import { type ReactElement, useMemo } from 'react';
import { counted, describeDuration, joinFacts } from '../../../src/trace/describe';
import { callsOfStep } from '../../../src/trace/run-tree';
import type { Solve } from '../api/types';
import { Fold } from '../parts/fold';
import { StateMark } from '../parts/state-mark';
import { ComparedHeads } from './compared-heads';
import { markOf, priceOf } from './mark';
import { matchSteps, type PlacedStep, type StepMatch, subtaskOf, workerOf } from './match-steps';
import { showText } from './show-text';

interface StepsComparedProps {
  readonly one: Solve;
  readonly other: Solve;
}

const WORDS = { subtask: 'same subtask', worker: 'same worker' } as const;

/** The steps of two solves, those that belong together side by side. */
export function StepsCompared({ one, other }: StepsComparedProps): ReactElement | null {
  const matches = useMemo(() => matchSteps(one, other), [one, other]);
  if (matches.length === 0) return null;
  const alike = matches.filter(({ by }) => by !== null).length;
  return (
    <Fold summary={`Step by step: ${alike} of ${counted(matches.length, 'step')} matched`}>
      <div className="scroll">
        <table className="differences" aria-label="Steps side by side">
          <ComparedHeads rows="Match" one={one} other={other} />
          <tbody>
            {matches.map((match, index) => (
              <Row key={index} match={match} one={one} other={other} />
            ))}
          </tbody>
        </table>
      </div>
    </Fold>
  );
}

function Row({ match, one, other }: StepsComparedProps & { readonly match: StepMatch }): ReactElement {
  return (
    <tr>
      <th scope="row">{match.by === null ? 'no match' : WORDS[match.by]}</th>
      <td>{match.one === null ? '–' : <Told solve={one} place={match.one} />}</td>
      <td>{match.other === null ? '–' : <Told solve={other} place={match.other} />}</td>
    </tr>
  );
}

function Told({ solve, place }: { readonly solve: Solve; readonly place: PlacedStep }): ReactElement {
  const { round, index } = place;
  const result = round.steps[index];
  const { startedAt = null, endedAt = null } = result ?? {};
  return (
    <>
      <StateMark state={markOf(solve, round, index)} />{' '}
      {joinFacts(
        `${index + 1} ${workerOf(place)}`,
        startedAt !== null && endedAt !== null && describeDuration(startedAt, endedAt),
        result !== undefined && priceOf(callsOfStep(solve.calls, round, result)),
      )}
      <span className="subtask faint" dir="auto">
        {showText(subtaskOf(place))}
      </span>
    </>
  );
}
