import type { ReactElement } from 'react';
import { describeDuration, describeMs } from '../../../src/trace/describe';
import { pathOf } from '../../../src/trace/run-tree';
import { useNow } from '../parts/now';
import { useShown } from './context';
import { markOf } from './step-node';

const MOST_BARS = 60;

/** Time line with a bar for each step, in order of their starts. */
export function TimeLine(): ReactElement | null {
  const { solve, selected, select } = useShown();
  const isRunning = solve.status === 'running';
  const now = useNow(1000, isRunning);
  const bars = solve.rounds.flatMap((round) =>
    round.steps.flatMap(({ index, worker, startedAt, endedAt }) => {
      if (startedAt === null) return [];
      const start = Date.parse(startedAt);
      const end = endedAt === null ? Math.max(now, start) : Date.parse(endedAt);
      const place = { childId: round.childId, round: round.round, step: index };
      const name = `${pathOf(solve, round)}${index + 1} ${worker}`;
      return [
        {
          place,
          name,
          start,
          end,
          took: describeDuration(startedAt, endedAt, new Date(now).toISOString()),
          state: markOf(solve, round, index),
        },
      ];
    }),
  );
  if (bars.length === 0) return null;
  const first = Math.min(...bars.map(({ start }) => start));
  const span = Math.max(1, ...bars.map(({ end }) => end - first));
  bars.sort((one, other) => one.start - other.start);
  return (
    <section className="time-line" aria-label="Time line">
      <header>
        <h2>Time line</h2>
        <span className="faint">{describeMs(span)}</span>
      </header>
      {bars.slice(0, MOST_BARS).map(({ place, name, start, end, took, state }) => (
        <button
          key={`${place.childId} ${place.round} ${place.step}`}
          type="button"
          className="bar-row"
          aria-pressed={selected === place}
          title={took}
          onClick={() => {
            select(place);
          }}
        >
          <span className="bar-name">{name}</span>
          <span className="bar-track">
            <span
              className={`bar bar-${state}`}
              style={{
                left: `${((start - first) / span) * 100}%`,
                width: `${((end - start) / span) * 100}%`,
              }}
            />
          </span>
          <span className="bar-took">{took}</span>
        </button>
      ))}
    </section>
  );
}
