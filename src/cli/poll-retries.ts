import type { ConductorClient } from '../client/conductor-client';
import type { Retry } from '../client/retries';

/** A retry waits for a second at least, so nothing is missed that a person would see. */
const PAUSE_MS = 1_000;

/** Asks again and again which calls of a run wait for another attempt; returns what ends it. */
export function pollRetries(
  conductor: Pick<ConductorClient, 'retries'>,
  id: string,
  show: (retries: readonly Retry[]) => void,
): () => void {
  let isOver = false;
  const poll = async (): Promise<void> => {
    // An embellishment of the view: what is wrong with run or server is told by whoever follows it.
    const retries = await conductor.retries(id).catch(() => []);
    if (!isOver) show(retries);
  };
  const timer = setInterval(() => void poll(), PAUSE_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
