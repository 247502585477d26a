import type { SolveTrace } from '../protocol/solve';

/** States that a list can be narrowed to: `waiting` runs wait for a person; `running` ones may wait for something else. */
export const RUN_STATES = ['waiting', 'running', 'failed', 'completed', 'cancelled'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Which runs a list is to have: all, except that each field that is set leaves some out. */
export interface RunFilter {
  readonly state?: RunState | undefined;
  /** Earliest start, in ISO 8601. */
  readonly startedFrom?: string | undefined;
  /** First moment that is too late for a start, in ISO 8601. */
  readonly startedBefore?: string | undefined;
  /** Words that are all found in what the list shows: the beginning of the question, the id, workers and problems. */
  readonly words?: string | undefined;
}

/** A run as far as a filter looks at it. */
interface Filtered extends Pick<SolveTrace, 'status'> {
  readonly id: string;
  readonly waitsFor: SolveTrace['waitsFor'] | null;
  readonly question: string | null;
  readonly problems: readonly string[];
  readonly workers: readonly string[];
  readonly startedAt: string;
}

export function runStateOf({ status, waitsFor }: Pick<Filtered, 'status' | 'waitsFor'>): RunState {
  return status === 'running' && waitsFor === 'approval' ? 'waiting' : status;
}

/** Whether a run of this state has not ended. */
export function isUnfinishedState(state: RunState): state is 'waiting' | 'running' {
  return state === 'waiting' || state === 'running';
}

/** Returns a test whether a run is within a filter, which is read once for any number of runs. */
export function withinFilter({
  state,
  startedFrom,
  startedBefore,
  words = '',
}: RunFilter): (run: Filtered) => boolean {
  const from = startedFrom === undefined ? -Infinity : Date.parse(startedFrom);
  const before = startedBefore === undefined ? Infinity : Date.parse(startedBefore);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (run) => {
    const start = Date.parse(run.startedAt);
    const isOfState = state === undefined || runStateOf(run) === state;
    return isOfState && start >= from && start < before && hasWords(run, wanted);
  };
}

function hasWords({ id, question, problems, workers }: Filtered, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  const text = [question ?? '', id, ...workers, ...problems].join(' ').toLowerCase();
  return wanted.every((word) => text.includes(word));
}
