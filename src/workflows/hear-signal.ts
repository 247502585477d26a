import { log, patched, setHandler, type SignalDefinition } from '@temporalio/workflow';

/** Patch of runs that stop listening to a signal that comes too often. Written into histories: never rename it. */
const BOUNDED = 'bounded-signals';

/**
 * Handles the first `most` signals of a kind. Signals cannot be refused, and for each one that has a handler
 * the SDK makes seven promises and takes their stack traces: thousands behind one workflow task exceed its five seconds
 * of script, at every retry. Signals without a handler cost almost nothing, so a run that heard enough has none.
 * @param take handles one at once; returns what is wrong with one that it ignores, otherwise null
 */
export function hearSignal<Args extends unknown[]>(
  signal: SignalDefinition<Args>,
  most: number,
  take: (...args: Args) => string | null,
): void {
  const told = new Set<string>();
  const ignore = (problem: string): void => {
    if (!told.has(problem)) log.warn(`signal ${signal.name} ignored: ${problem}`);
    told.add(problem);
  };
  let heard = 0;
  setHandler(signal, (...args) => {
    const problem = take(...args);
    if (problem !== null) ignore(problem);
    heard += 1;
    if (heard !== most || !patched(BOUNDED)) return;
    setHandler(signal, undefined);
    ignore(`expected at most ${most} of them a run`);
  });
}
