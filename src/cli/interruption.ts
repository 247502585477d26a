import { once } from 'node:events';
import { ConductorError } from '../conductor-error';
import { EXIT } from './exit-code';
import { say } from './terminal';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Thrown where a command learns that it must stop before it has started: exit code 130. */
class InterruptedError extends ConductorError {
  override readonly name = 'InterruptedError';
  readonly code = 'Interrupted';
}

/**
 * Listens for Ctrl-C. The first one aborts the returned signal, so that the command can take its leave; the second
 * ends the process at once. What is left running then, runs and server, is found by the next command.
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

/** Waits for a promise, but no longer than until the interruption: undefined then. */
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
