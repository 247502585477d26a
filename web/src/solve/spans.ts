import { pathOf } from '../../../src/trace/run-tree';
import type { StepPlace } from '../api/live-texts';
import type { MarkedState } from '../parts/state-mark';
import type { Round, Solve } from '../api/types';
import { coveredMs, type Span } from './covered';
import { markOf } from './mark';

/** A part of a solve's time: a plan being written, a wait for a person, or a step. */
export interface TimedPart {
  readonly key: string;
  readonly name: string;
  /** Path of its round, which a time line puts before the name: `round 2 › `, or empty. */
  readonly path: string;
  /** The step, which can be selected; null for a plan or a wait. */
  readonly place: StepPlace | null;
  readonly startedAt: string;
  /** null while it lasts. */
  readonly endedAt: string | null;
  readonly state: MarkedState;
}

/** First and last moment of a time line, in milliseconds since 1970. */
export interface TimeScale {
  readonly first: number;
  readonly last: number;
}

/** Returns the scale that holds every part, also those that began after the page's clock last moved. */
export function timeScaleOf(solve: Solve, parts: readonly TimedPart[], clock: number): TimeScale {
  const told = parts.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt ?? startedAt]).map(Date.parse);
  const end = solve.endedAt === undefined ? clock : Date.parse(solve.endedAt);
  const first = Math.min(...told, ...(solve.startedAt === undefined ? [] : [Date.parse(solve.startedAt)]));
  return { first, last: Math.max(end, ...told) };
}

/**
 * Returns how long a solve took, or has taken so far, in milliseconds, and how much of that a plan waited for a person.
 * @param clock the browser's, which counts only as far as it is not behind what is told
 */
export function timesOf(solve: Solve, clock: number): { readonly tookMs: number; readonly waitedMs: number } {
  const { first, last } = timeScaleOf(solve, timedPartsOf(solve), clock);
  const waits = solve.rounds.flatMap(({ approvals = [] }) => approvals);
  const spans = waits.map(({ startedAt, endedAt }): Span => {
    return [Date.parse(startedAt), endedAt === null ? last : Date.parse(endedAt)];
  });
  return { tookMs: last - first, waitedMs: coveredMs(spans) };
}

/** Returns the parts of a solve that have begun, in the order of their starts. */
export function timedPartsOf(solve: Solve): TimedPart[] {
  const parts = solve.rounds.flatMap((round) => partsOfRound(solve, round));
  return parts.sort((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt));
}

/** Returns the parts of a round that have begun: its plan, waits for a person, then steps in the order of the plan. */
export function partsOfRound(solve: Solve, round: Round): TimedPart[] {
  return [...partsOfPlan(solve, round), ...stepsOf(solve, round)];
}

function partsOfPlan(solve: Solve, round: Round): TimedPart[] {
  const { planning, approvals = [] } = round;
  const key = `${round.childId} ${round.round}`;
  const path = pathOf(solve, round);
  const written = planning && {
    ...planning,
    key: `${key} plan`,
    path,
    name: 'plan',
    place: null,
    state: planning.endedAt === null ? ('running' as const) : ('done' as const),
  };
  const waits = approvals.map((span, index) => ({
    ...span,
    key: `${key} approval ${index}`,
    path,
    name: 'waits for you',
    place: null,
    state: 'asks' as const,
  }));
  return written === undefined ? waits : [written, ...waits];
}

function stepsOf(solve: Solve, round: Round): TimedPart[] {
  const path = pathOf(solve, round);
  return round.steps.flatMap(({ index, worker, startedAt, endedAt }) => {
    if (startedAt === null) return [];
    const place = { childId: round.childId, round: round.round, step: index };
    const name = `${index + 1} ${worker}`;
    const key = `${round.childId} ${round.round} ${index}`;
    return [{ key, path, name, place, startedAt, endedAt, state: markOf(solve, round, index) }];
  });
}
