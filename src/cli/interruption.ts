import { ConductorError } from '../protocol/errors';
import { EXIT } from './exit-code';
import { say } from './terminal';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Thrown where a command learns that it was told to stop before it had begun: exit code 130. */
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
  let giveUp = (): void => undefined;
  const interrupted = new Promise<undefined>((resolve) => {
    giveUp = () => {
      resolve(undefined);
    };
    if (interruption.aborted) giveUp();
    else interruption.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([promise, interrupted]);
  } finally {
    interruption.removeEventListener('abort', giveUp);
  }
}
