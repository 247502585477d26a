import { type ReactElement, useState } from 'react';
import { describeMs } from '../../../src/trace/describe';
import { useNow } from '../parts/now';
import { isSamePlace, useShown } from './context';
import { type TimedPart, timedPartsOf, type TimeScale, timeScaleOf } from './spans';
import { Track } from './track';

const MOST_BARS = 60;

/** Time line with a bar for each plan, wait and step, from the start of the solve to its end. Lists have it in them. */
export function TimeLine(): ReactElement | null {
  const { solve, which, view } = useShown();
  const [isWhole, setWhole] = useState(false);
  const isRunning = solve.status === 'running';
  const clock = useNow(1000, isRunning);
  const parts = timedPartsOf(solve);
  if (parts.length === 0 || view === 'list') return null;
  const scale = timeScaleOf(solve, parts, clock);
  const shown = isWhole ? parts : parts.slice(0, MOST_BARS);
  return (
    <section className="time-line" aria-label={`Time line${which}`}>
      <header>
        <h2>Time line</h2>
        <span className="faint">{describeMs(scale.last - scale.first)}</span>
      </header>
      {shown.map((part) => (
        <Bar key={part.key} part={part} scale={scale} />
      ))}
      {shown.length < parts.length && (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            setWhole(true);
          }}
        >
          Show all {parts.length}
        </button>
      )}
    </section>
  );
}

function Bar({ part, scale }: { readonly part: TimedPart; readonly scale: TimeScale }): ReactElement {
  const { selected, select } = useShown();
  const { path, name, place } = part;
  const row = (
    <>
      <span className="bar-name">
        {path}
        {name}
      </span>
      <Track part={part} scale={scale} />
    </>
  );
  if (place === null) return <div className="bar-row">{row}</div>;
  return (
    <button
      type="button"
      className="bar-row"
      aria-pressed={isSamePlace(selected, place)}
      onClick={() => {
        select(place);
      }}
    >
      {row}
    </button>
  );
}
