import { isUnfinishedState, RUN_STATES, type RunFilter, type RunState } from '../../../src/trace/run-filter';

/** Names of the states that the list can show alone, in the order of their chips. */
export const STATE_NAMES: Readonly<Record<RunState, string>> = {
  waiting: 'Waits for you',
  running: 'Running',
  failed: 'Failed',
  completed: 'Done',
  cancelled: 'Cancelled',
};

/** What the list shows: all solves, or those of a state, with all words, that started on these days. */
export interface Chosen {
  readonly state: RunState | null;
  readonly words: string;
  /** First and last day in the reader's time zone, as `2026-11-30`; empty for any. */
  readonly from: string;
  readonly to: string;
}

export const ALL: Chosen = { state: null, words: '', from: '', to: '' };

/** Reads a choice from the query of an address. */
export function readChosen(query: string): Chosen {
  const fields = new URLSearchParams(query);
  const [state, words, from, to] = ['state', 'words', 'from', 'to'].map((name) => fields.get(name) ?? '');
  return {
    state: RUN_STATES.find((each) => each === state) ?? null,
    words: words ?? '',
    from: startOf(from) === undefined ? '' : (from ?? ''),
    to: startOf(to) === undefined ? '' : (to ?? ''),
  };
}

/** Writes a choice as the query of an address; empty for all solves. */
export function queryOf(chosen: Chosen): string {
  const set = Object.entries(chosen).filter(([, value]) => value);
  return set.length === 0 ? '' : `?${new URLSearchParams(set as [string, string][]).toString()}`;
}

export function filterOf({ state, words, from, to }: Chosen): RunFilter {
  return {
    state: state ?? undefined,
    words,
    startedFrom: startOf(from),
    // The last day is within.
    startedBefore: startOf(to, 1),
  };
}

/** Returns the fields of a request for ended solves; empty if all of them are chosen, or none. */
export function soughtOf(chosen: Chosen): string {
  const { state, ...filter } = filterOf({ ...chosen, words: chosen.words.trim().slice(0, MOST_SOUGHT) });
  if (state !== undefined && isUnfinishedState(state)) return '';
  const set = Object.entries({ state, ...filter }).filter(([, value]) => value);
  return new URLSearchParams(set as [string, string][]).toString();
}

/** Longest words that the gateway looks for. */
const MOST_SOUGHT = 200;

/** Returns the start of a day, or of a later one; undefined if it is none. */
function startOf(day = '', later = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}
