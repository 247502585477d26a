import { unlessAborted } from './unless-aborted';

/** Runs work when its turn comes. Work whose signal is aborted before that never starts. */
type InTurn = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** One thing at a time, in the order of asking. */
export function createQueue(): InTurn {
  let last = Promise.resolve();
  return async (signal, work) => {
    const before = last;
    let leave = (): void => undefined;
    const mine = new Promise<void>((resolve) => (leave = resolve));
    last = before.then(() => mine);
    try {
      await unlessAborted(signal, before);
      return await work();
    } finally {
      leave();
    }
  };
}
