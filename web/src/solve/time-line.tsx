import { type ReactElement, useState } from 'react';
import { describeDuration, describeMs } from '../../../src/trace/describe';
import { useNow } from '../parts/now';
import { isSamePlace, useShown } from './context';
import { type TimedPart, timedPartsOf, type TimeScale, timeScaleOf } from './spans';

const MOST_BARS = 60;

/** Time line with a bar for each plan, wait and step, from the start of the solve to its end. */
export function TimeLine(): ReactElement | null {
  const { solve, which } = useShown();
  const [isWhole, setWhole] = useState(false);
  const isRunning = solve.status === 'running';
  const clock = useNow(1000, isRunning);
  const parts = timedPartsOf(solve);
  if (parts.length === 0) return null;
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
  const { name, place, startedAt, endedAt, state } = part;
  const start = Date.parse(startedAt);
  const span = Math.max(1, scale.last - scale.first);
  const end = endedAt === null ? scale.last : Date.parse(endedAt);
  const took = describeDuration(startedAt, endedAt, new Date(scale.last).toISOString());
  const row = (
    <>
      <span className="bar-name">{name}</span>
      <span className="bar-track">
        <span
          className={`bar bar-${state}`}
          style={{
            left: `${((start - scale.first) / span) * 100}%`,
            width: `${((end - start) / span) * 100}%`,
          }}
        />
      </span>
      <span className="bar-took">{took}</span>
    </>
  );
  if (place === null)
    return (
      <div className="bar-row" title={took}>
        {row}
      </div>
    );
  return (
    <button
      type="button"
      className="bar-row"
      aria-pressed={isSamePlace(selected, place)}
      title={took}
      onClick={() => {
        select(place);
      }}
    >
      {row}
    </button>
  );
}
