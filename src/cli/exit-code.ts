import { ConductorError } from '../protocol/errors';
import type { SolveResult } from '../protocol/solve';

/** What a command tells the shell. */
export const EXIT = {
  /** An answer was given, or what was asked for was done. */
  answered: 0,
  /** The run failed or was cancelled, or the command could not do its work. */
  failed: 1,
  /** The command line or the configuration is wrong: nothing was started. */
  usage: 2,
  /** A limit ended the run. */
  stopped: 3,
  /** Ctrl-C, as shells count it: 128 and the signal's number. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code that an ended run stands for. */
export function exitCodeOf({ status, stoppedBy }: Pick<SolveResult, 'status' | 'stoppedBy'>): ExitCode {
  if (stoppedBy !== null) return EXIT.stopped;
  return status === 'completed' ? EXIT.answered : EXIT.failed;
}

const USAGE = ['Usage', 'BadQuestion', 'Configuration', 'MissingKey', 'UnknownKey'];
const BY_CODE: ReadonlyMap<string, ExitCode> = new Map<string, ExitCode>([
  ...USAGE.map((code) => [code, EXIT.usage] as const),
  ['Interrupted', EXIT.interrupted],
]);

/** The exit code of a command that threw. */
export function exitCodeOfError(error: unknown): ExitCode {
  return (error instanceof ConductorError ? BY_CODE.get(error.code) : undefined) ?? EXIT.failed;
}

/** Thrown before anything is started, for a command that cannot be carried out as it was given: exit code 2. */
export class UsageError extends ConductorError {
  override readonly name = 'UsageError';
  readonly code = 'Usage';
}
