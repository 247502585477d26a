/** A program to run: Python 3 in one file, and what it reads from standard input. */
export interface Program {
  readonly python: string;
  readonly stdin: string;
}

/** Limits of a program, which is one process. */
export interface ProgramLimits {
  /** CPU time: a busy machine takes nothing from it. */
  readonly seconds: number;
  readonly memoryMb: number;
  /** Bytes of standard output. */
  readonly outputBytes: number;
}

/** End of a program. `stopped`: by a limit, with its name. */
export type ProgramRun =
  | {
      readonly kind: 'ended';
      /** 128 and its number where a signal ended it. */
      readonly exitCode: number;
      readonly stdout: string;
      /** Its last 2,000 characters. */
      readonly stderr: string;
    }
  | { readonly kind: 'stopped'; readonly reason: string };

/** A place where a program that no one trusts can do no harm. */
export interface Sandbox {
  /** Name in versions of graders. */
  readonly name: string;
  /** How many programs it runs at once: more would only take longer. */
  readonly places: number;
  /**
   * What the program says of itself, or does to itself, is in the result; nothing that it does makes this throw.
   *
   * @throws SandboxError where the sandbox itself fails
   */
  run(program: Program, limits: ProgramLimits): Promise<ProgramRun>;
  /** What to do where it fails with these words. */
  remedyFor(words: string): string;
}

/** A sandbox failed, and says nothing of the program. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** A program may wait: it has ten times as much wall-clock time as CPU time. */
export function wallSecondsOf({ seconds }: ProgramLimits): number {
  return 10 * seconds;
}

/** 128 and the numbers of SIGKILL and SIGXCPU. */
export const KILLED = 137;
const CPU_TIME_IS_UP = 152;
/** The reason of a failure is among a program's last words. */
export const MOST_STDERR = 2_000;

export function endOf(
  exitCode: number,
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
  { seconds }: ProgramLimits,
): ProgramRun {
  return exitCode === CPU_TIME_IS_UP
    ? { kind: 'stopped', reason: `it took more than ${seconds} s of CPU time` }
    : { kind: 'ended', exitCode, stdout, stderr: stderr.slice(-MOST_STDERR) };
}
