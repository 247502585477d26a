/** Semaphore: runs at most `free` pieces of work at once; the others wait in order of arrival. */
export class Turns {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}

/** Returns the promise's value, or null if it takes longer than `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let clock: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    clock = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(clock);
  }
}

/** Waits for work that cannot be stopped; throws the signal's reason as soon as it is aborted. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', giveUp);
    });
  });
}

/** Returns what was opened under a key, else opens it. A failure is forgotten, so that the next caller tries again. */
export function openOnce<Value>(
  opened: Map<string, Promise<Value>>,
  key: string,
  open: () => Promise<Value>,
): Promise<Value> {
  const known = opened.get(key);
  if (known !== undefined) return known;
  const value = open();
  opened.set(key, value);
  value.catch(() => opened.delete(key));
  return value;
}
