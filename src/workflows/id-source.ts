import { getRandomStream, patched, uuid4, type WorkflowRandomStream } from '@temporalio/workflow';

/** Change: random ids are drawn from numbers of their own. Written into histories: never rename it. */
const APART = 'ids-apart';
/** Name of those numbers, which depend on it and on the run: never rename it. */
const NUMBERS = 'temporal-conductor/ids';

/**
 * Returns where a run draws random ids from, the same in every replay. `Math.random` is no such place for new runs:
 * interceptors draw from it, too, so that a run would find other ids once they are mounted or taken away.
 */
export function idSource(): Pick<WorkflowRandomStream, 'random' | 'uuid4'> {
  return patched(APART) ? getRandomStream(NUMBERS) : { random: () => Math.random(), uuid4: () => uuid4() };
}
