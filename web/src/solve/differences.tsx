import type { ReactElement } from 'react';
import {
  counted,
  describeCost,
  describeRunTime,
  describeTokens,
  joinFacts,
} from '../../../src/trace/describe';
import { roundsOf } from '../../../src/trace/run-tree';
import type { Solve } from '../api/types';
import { stateOfRun, wordOf } from '../parts/state-mark';
import { ComparedHeads } from './compared-heads';

interface DifferencesProps {
  readonly one: Solve;
  readonly other: Solve;
}

/** Each fact that two solves are compared by, in words. */
const FACTS: readonly (readonly [name: string, describe: (solve: Solve) => string])[] = [
  [
    'End',
    (solve) => joinFacts(wordOf(stateOfRun(solve.status, solve.waitsFor)), solve.degraded && 'degraded'),
  ],
  ['Took', (solve) => describeRunTime(solve)],
  ['Cost', describeCost],
  ['Used', describeTokens],
  ['Plan', describeTeams],
];

/** Table of what two solves took, spent and planned; what differs is set off. */
export function Differences({ one, other }: DifferencesProps): ReactElement {
  return (
    <table className="differences" aria-label="What differs">
      <ComparedHeads rows="Fact" one={one} other={other} />
      <tbody>
        {FACTS.map(([name, describe]) => {
          const [left, right] = [describe(one), describe(other)];
          return (
            <tr key={name} className={left === right ? 'same' : undefined}>
              <th scope="row">{name}</th>
              <td>{left}</td>
              <td>{right}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** `3 steps: a, b, a; then 1 step: b`: the workers of each round of the solve itself. */
function describeTeams(solve: Solve): string {
  const teams = roundsOf(solve).map(
    ({ steps }) => `${counted(steps.length, 'step')}: ${steps.map(({ worker }) => worker).join(', ')}`,
  );
  return teams.length === 0 ? 'none' : teams.join('; then ');
}
