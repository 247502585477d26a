import type { ReactElement } from 'react';
import { describeDuration } from '../../../src/trace/describe';
import type { TimedPart, TimeScale } from './spans';

interface TrackProps {
  /** null: it has not begun. */
  readonly part: TimedPart | null;
  readonly scale: TimeScale;
}

/** When a part of a solve went on, as a bar, and for how long. */
export function Track({ part, scale }: TrackProps): ReactElement {
  return (
    <>
      <span className="bar-track">{part !== null && <TimeBar part={part} scale={scale} />}</span>
      <span className="bar-took">
        {part !== null && describeDuration(part.startedAt, part.endedAt, new Date(scale.last).toISOString())}
      </span>
    </>
  );
}

function TimeBar({ part, scale }: { readonly part: TimedPart; readonly scale: TimeScale }): ReactElement {
  const span = Math.max(1, scale.last - scale.first);
  const start = Date.parse(part.startedAt);
  const end = part.endedAt === null ? scale.last : Date.parse(part.endedAt);
  return (
    <span
      className={`bar bar-${part.state}`}
      style={{ left: `${((start - scale.first) / span) * 100}%`, width: `${((end - start) / span) * 100}%` }}
    />
  );
}
