/** A program to run: Python 3 in one file, and what it reads from standard input. */
export interface Program {
  readonly python: string;
  readonly stdin: string;
}

/** Limits of a program. Its processes are counted together, but for the memory that one of them may reserve. */
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
}

/** A sandbox failed, and says nothing of the program. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** Programs that wait for a limit of wall-clock time are given so much more of it than of CPU time. */
export const WALL_CLOCK = 10;

/** The last of its words, so that the reason of a failure is among them. */
export const MOST_STDERR = 2_000;
