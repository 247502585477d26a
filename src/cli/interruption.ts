import { once } from 'node:events';
import { ConductorError } from '../errors';
import { EXIT } from './exit-code';
import { say } from './terminal';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

class InterruptedError extends ConductorError {
  override readonly name = 'InterruptedError';
  readonly code = 'Interrupted';
}

/**
 * Listens for Ctrl-C. The first one aborts the returned signal; the second ends the process at once, and the next
 * command finds what is left running.
 */
export function listenForInterruption(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    say('\nStopping. Press Ctrl-C again to stop at once.');
    controller.abort(new InterruptedError('interrupted before a run was started'));
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return controller.signal;
}

const HOUR_MS = 3_600_000;

/** Waits for Ctrl-C. Neither a listener for a signal nor an idle connection keeps a process of Node alive: a timer does. */
export async function untilInterrupted(interruption: AbortSignal): Promise<void> {
  const alive = setInterval(() => undefined, HOUR_MS);
  try {
    if (!interruption.aborted) await once(interruption, 'abort');
  } finally {
    clearInterval(alive);
  }
}

/** The promise's value, or undefined where the interruption comes first. */
export async function unlessInterrupted<Value>(
  interruption: AbortSignal,
  promise: Promise<Value>,
): Promise<Value | undefined> {
  const settled = new AbortController();
  const none = (): undefined => undefined;
  const interrupted = interruption.aborted
    ? Promise.resolve(undefined)
    : once(interruption, 'abort', { signal: settled.signal }).then(none, none);
  try {
    return await Promise.race([promise, interrupted]);
  } finally {
    settled.abort();
  }
}
