import type { Worker } from '@temporalio/worker';

/** What it takes to run a worker and to stop it. */
export type Runnable = Pick<Worker, 'run' | 'getState' | 'shutdown'>;

/**
 * Runs workers as one: whichever of them ends first, as it was told to or because it broke down, ends them all.
 *
 * @param first runs at once, for whoever holds it may stop it from the first moment on
 * @param run what makes it run
 * @param others on their way to run beside it
 * @throws what the first to break down threw, when all have ended
 */
export async function runTogether(
  first: Runnable,
  run: () => Promise<void>,
  others: readonly Promise<Runnable>[],
): Promise<void> {
  const runs = [run(), ...others.map(async (other) => (await other).run())];
  const stopAll = (): void => {
    for (const each of [Promise.resolve(first), ...others]) each.then(stop, () => undefined);
  };
  const ends = await Promise.allSettled(runs.map((each) => each.finally(stopAll)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function stop(worker: Runnable): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
