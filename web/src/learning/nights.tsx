import { type ReactElement, useState } from 'react';
import type { Night } from '../api/types';

interface NightsProps {
  readonly nights: readonly Night[];
  /** Night whose gate is shown. */
  readonly shown: Night | null;
  readonly cycle: number | null;
  readonly onNight: (date: string) => void;
  /** Null if the key may not read cycles. */
  readonly onCycle: ((cycle: number) => void) | null;
}

const SHOWN_AT_FIRST = 10;

/** Table of nights, newest first, each with its cycles. */
export function Nights({ nights, shown: chosen, cycle, onNight, onCycle }: NightsProps): ReactElement {
  const [isWhole, showAll] = useState(false);
  const newest = nights.toReversed();
  const shown = isWhole ? newest : newest.slice(0, SHOWN_AT_FIRST);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Nights">
      <table className="nights">
        <thead>
          <tr>
            <th scope="col">Night</th>
            <th scope="col">Cycles</th>
            <th scope="col">Reward</th>
            <th scope="col">Gate</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((each) => (
            <tr key={each.date} className={each.date === chosen?.date ? 'chosen' : undefined}>
              <th scope="row">
                <button
                  type="button"
                  className="quiet"
                  aria-pressed={each.date === chosen?.date}
                  onClick={() => {
                    onNight(each.date);
                  }}
                >
                  {each.date}
                </button>
              </th>
              <td>
                <Cycles night={each} cycle={cycle} onCycle={onCycle} />
              </td>
              <td>{describeRewards(each)}</td>
              <td className="words">{describeGate(each)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {newest.length > shown.length && (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            showAll(true);
          }}
        >
          Show all {newest.length} nights
        </button>
      )}
    </div>
  );
}

function Cycles({
  night: { cycles, first, last, done },
  cycle,
  onCycle,
}: Pick<NightsProps, 'cycle' | 'onCycle'> & { readonly night: Night }): ReactElement {
  const of = last - first + 1;
  // Cycles are numbered across all nights.
  const count = Math.max(0, done - first + 1);
  if (onCycle === null || cycles.length === 0) return <>{`${count} of ${of}`}</>;
  return (
    <div className="cycles">
      {cycles.map((each) => (
        <button
          key={each.cycle}
          type="button"
          aria-label={`Cycle ${each.cycle}, reward ${each.rewardMean.toFixed(2)}`}
          aria-pressed={each.cycle === cycle}
          onClick={() => {
            onCycle(each.cycle);
          }}
        >
          {each.cycle}
        </button>
      ))}
      {count < of && <span className="faint">of {last}</span>}
    </div>
  );
}

/** Describes the rewards of a night's first and last cycle: `0.12 → 0.31`. */
function describeRewards({ cycles }: Night): string {
  const [first, last] = [cycles.at(0), cycles.at(-1)];
  if (first === undefined || last === undefined) return '–';
  return `${first.rewardMean.toFixed(2)} → ${last.rewardMean.toFixed(2)}`;
}

function describeGate({ decision, closedAt }: Night): string {
  if (decision === null) return closedAt === null ? 'still running' : 'no gate';
  return withoutFigures(decision);
}

/** Returns a gate's sentence without its figures, which the gate's card shows. */
export function withoutFigures(sentence: string): string {
  return sentence.replace(/ \(.*$/s, '');
}
