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

/** Wakes all who wait for news. */
export class Bell {
  private readonly waiting = new Set<() => void>();

  ring(): void {
    for (const wake of this.waiting) wake();
  }

  /** Resolves at the next ring, or when the signal is aborted. */
  async rung(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    let wake = (): void => undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      this.waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
    this.waiting.delete(wake);
    signal?.removeEventListener('abort', wake);
  }
}

interface Opened<Value> {
  readonly value: Value;
  readonly closing: AbortController;
  users: number;
}

/** Opens one value for all its users at a time. */
export class Shared<Value> {
  private readonly opened = new Map<string, Opened<Value>>();

  /** @param open called unless the value is open; its signal is aborted when the last user leaves */
  use(
    name: string,
    open: (closing: AbortSignal) => Value,
  ): { readonly value: Value; readonly leave: () => void } {
    const known = this.opened.get(name);
    const opened = known ?? this.open(open);
    this.opened.set(name, opened);
    opened.users += 1;
    const leave = (): void => {
      opened.users -= 1;
      if (opened.users > 0) return;
      opened.closing.abort();
      if (this.opened.get(name) === opened) this.opened.delete(name);
    };
    return { value: opened.value, leave };
  }

  /** Returns the value if it is open. */
  find(name: string): Value | undefined {
    return this.opened.get(name)?.value;
  }

  /** Leaves a value that failed to its present users: the next one opens it again. */
  forget(name: string, value: Value): void {
    if (this.opened.get(name)?.value === value) this.opened.delete(name);
  }

  private open(open: (closing: AbortSignal) => Value): Opened<Value> {
    const closing = new AbortController();
    return { value: open(closing.signal), closing, users: 0 };
  }
}
