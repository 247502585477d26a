import { useMemo } from 'react';
import { RUN_STATES, type RunState, runStateOf, withinFilter } from '../../../src/trace/run-filter';
import { useEarlierSolves, useFurtherSolves, useSolves } from '../api/queries';
import { inOrder, type SolveList } from '../api/solve-list';
import type { ListedSolve } from '../api/types';
import { useSettled } from '../parts/use-settled';
import { type Chosen, filterOf, soughtOf } from './chosen';

/** The way to solves that ended earlier. */
interface Way {
  /** Whether there are no earlier ones. */
  readonly isAll: boolean;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly readEarlier: () => void;
}

/** Solves that were found so far. */
export interface Found extends Way {
  readonly runs: readonly ListedSolve[];
  /** Those in any state that match all else that is chosen, and those of them in each state. */
  readonly ofAnyState: readonly ListedSolve[];
  readonly ofState: ReadonlyMap<RunState, readonly ListedSolve[]>;
  /** The list in which they were found first; undefined until it is read. */
  readonly list: SolveList | undefined;
}

/** Pause in typing after which words are sought, in milliseconds. */
const SETTLED_MS = 300;

/** Finds solves: in the list as far as it is known, then among all that ended before, which the gateway looks through. */
export function useFound(chosen: Chosen, pollMs?: number | null): Found {
  const { data: list, error } = useSolves(pollMs);
  const earlier = useEarlierSolves();
  const wanted = soughtOf(chosen);
  const deeper = useDeeper(list, wanted);
  const { state, words, from, to } = chosen;
  // Each stage is kept by itself: a new choice of state must not sort and filter ten thousand solves again.
  const known = useMemo(() => inOrder(list?.runs ?? NOTHING, deeper.read), [list, deeper.read]);
  const ofAnyState = useMemo(
    () => known.filter(withinFilter(filterOf({ state: null, words, from, to }))),
    [known, words, from, to],
  );
  const ofState = useMemo(
    () =>
      new Map(
        RUN_STATES.map((each) => [each, ofAnyState.filter((run) => runStateOf(run) === each)] as const),
      ),
    [ofAnyState],
  );
  const runs = (state === null ? ofAnyState : ofState.get(state)) ?? NOTHING;
  const found = { runs, ofAnyState, ofState, list };
  if (list === undefined || wanted === '' || list.earlier === null)
    return {
      ...found,
      // Unfinished ones are all in the list.
      isAll: list?.earlier === null || state !== null,
      isPending: list === undefined || earlier.isPending,
      error: list === undefined ? error : earlier.error,
      readEarlier: () => {
        if (list !== undefined) earlier.mutate(list);
      },
    };
  return { ...deeper, ...found };
}

const NOTHING: readonly ListedSolve[] = [];

/** Solves that the gateway found before the end of the list. @param wanted see `soughtOf` */
function useDeeper(
  list: SolveList | undefined,
  wanted: string,
): Way & { readonly read: readonly ListedSolve[] } {
  const sought = useSettled(wanted, SETTLED_MS);
  const isSettled = sought === wanted;
  const { data, hasNextPage, isFetching, error, fetchNextPage } = useFurtherSolves(
    list?.earlier ?? null,
    sought,
  );
  const read = useMemo(() => data?.pages.flatMap(({ runs }) => runs) ?? NOTHING, [data]);
  return {
    read: isSettled ? read : NOTHING,
    isAll: isSettled && data !== undefined && !hasNextPage,
    isPending: !isSettled || isFetching,
    error,
    readEarlier: () => void fetchNextPage(),
  };
}
