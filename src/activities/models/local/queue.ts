/** Runs work when its turn comes. Work whose signal is aborted before that never starts. */
type InTurn = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** One thing at a time, in the order of asking. */
export function createQueue(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (signal, work) => {
    const before = last;
    const result = before.then(() => {
      signal.throwIfAborted();
      return work();
    });
    last = result.catch(() => undefined);
    return Promise.race([result, aborted(signal, before)]);
  };
}

/** Rejects when the signal is aborted while `until` is pending, so that nobody waits for a turn they gave up. */
function aborted(signal: AbortSignal, until: Promise<unknown>): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) give();
    signal.addEventListener('abort', give, { once: true });
    void until.then(() => {
      signal.removeEventListener('abort', give);
    });
  });
}
