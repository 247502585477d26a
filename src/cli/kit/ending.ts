import { ConductorError } from '../../errors';
import { FAILURES } from '../../protocol/failures';
import type { SolveResult } from '../../protocol/solve';
import { unlessAborted } from '../../runtime/turns';
import { say } from './terminal';

/** Exit codes of all commands. */
export const EXIT = {
  answered: 0,
  /** The run failed or was cancelled, or the command could not do its work. */
  failed: 1,
  /** The command line or the configuration is wrong: nothing was started, or no worker was asked. */
  usage: 2,
  stopped: 3,
  /** Ctrl-C, as shells report it: 128 plus the signal's number. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

type End = Pick<SolveResult, 'status' | 'stoppedBy' | 'error'>;

export function exitCodeOf({ status, stoppedBy, error }: End): ExitCode {
  if (stoppedBy !== null) return EXIT.stopped;
  if (error?.type === FAILURES.configuration) return EXIT.usage;
  return status === 'completed' ? EXIT.answered : EXIT.failed;
}

/** Returns the exit code for the end of a child process. @param code null if a signal ended it */
export function exitCodeFrom(code: number | null): ExitCode {
  return Object.values(EXIT).find((known) => known === code) ?? EXIT.failed;
}

/** Codes of errors that are thrown before anything is started. */
const OF_USAGE = ['Usage', 'BadQuestion', 'BadRetry', 'Configuration', 'MissingKey', 'UnknownKey'];

export function exitCodeOfError(error: unknown): ExitCode {
  const isOfUsage = error instanceof ConductorError && OF_USAGE.includes(error.code);
  return isOfUsage ? EXIT.usage : EXIT.failed;
}

/** The first Ctrl-C aborts the returned signal; the second ends the process at once. */
export function listenForInterruption(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    say('\nStopping. Press Ctrl-C again to stop at once.');
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupt);
  return controller.signal;
}

const HOUR_MS = 3_600_000;

/** Waits for Ctrl-C. A timer keeps the Node process alive; a listener or an idle connection does not. */
export async function untilInterrupted(interruption: AbortSignal): Promise<void> {
  const alive = setInterval(() => undefined, HOUR_MS);
  await unlessInterrupted(interruption, new Promise<never>(() => undefined));
  clearInterval(alive);
}

/** Returns the promise's value, or undefined if the interruption comes first. */
export function unlessInterrupted<Value>(
  interruption: AbortSignal,
  promise: Promise<Value>,
): Promise<Value | undefined> {
  return Promise.race([promise, unlessAborted(interruption, promise).catch(() => undefined)]);
}
