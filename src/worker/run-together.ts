import type { Worker } from '@temporalio/worker';

/**
 * Runs workers as one: whichever of them ends first, as it was told to or because it broke down, ends them all.
 *
 * @param first runs at once, for whoever holds it may stop it from the first moment on
 * @param run what makes it run
 * @param others on their way to run beside it
 * @throws what the first to break down threw, when all have ended
 */
export async function runTogether(
  first: Worker,
  run: () => Promise<void>,
  others: readonly Promise<Worker>[],
): Promise<void> {
  const runs = [run(), ...others.map(async (other) => (await other).run())];
  const stopAll = (): void => {
    for (const each of [Promise.resolve(first), ...others]) each.then(stop, () => undefined);
  };
  const ends = await Promise.allSettled(runs.map((each) => each.finally(stopAll)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function stop(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
