import { ConductorError } from '../errors';
import { FAILURES } from '../protocol/failures';
import type { SolveResult } from '../protocol/solve';

/** Exit codes of all commands. */
export const EXIT = {
  /** An answer was given, or what was asked for was done. */
  answered: 0,
  /** The run failed or was cancelled, or the command could not do its work. */
  failed: 1,
  /** The command line or the configuration is wrong: nothing was started, or no worker was asked. */
  usage: 2,
  stopped: 3,
  /** Ctrl-C, as shells count it: 128 and the signal's number. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitCodeOf({
  status,
  stoppedBy,
  error,
}: Pick<SolveResult, 'status' | 'stoppedBy' | 'error'>): ExitCode {
  if (stoppedBy !== null) return EXIT.stopped;
  if (error?.type === FAILURES.configuration) return EXIT.usage;
  return status === 'completed' ? EXIT.answered : EXIT.failed;
}

/** Exit code for the end of a child process; null if a signal ended it. */
export function exitCodeFrom(code: number | null): ExitCode {
  return Object.values(EXIT).find((known) => known === code) ?? EXIT.failed;
}

/** By an error's code; every other error is a failure. */
const BY_CODE: ReadonlyMap<string, ExitCode> = new Map([
  ['Usage', EXIT.usage],
  ['BadQuestion', EXIT.usage],
  ['BadRetry', EXIT.usage],
  ['Configuration', EXIT.usage],
  ['MissingKey', EXIT.usage],
  ['UnknownKey', EXIT.usage],
  ['Interrupted', EXIT.interrupted],
]);

export function exitCodeOfError(error: unknown): ExitCode {
  return (error instanceof ConductorError ? BY_CODE.get(error.code) : undefined) ?? EXIT.failed;
}

/** A command that cannot be carried out as it was given; nothing was started. */
export class UsageError extends ConductorError {
  override readonly name = 'UsageError';
  readonly code = 'Usage';
}
