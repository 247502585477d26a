import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { isAbsolute } from 'node:path';
import type { Writable } from 'node:stream';
import { findProgram, type Program, runProgram, startProgram } from '../../start-program';
import { CONFINED } from './bubblewrap';
import { systemCallFilter } from './system-calls';

/** It sees all files, since a Python may lie anywhere; it can write none, and connect to nothing to tell of them. */
const READ_ONLY = [
  ...CONFINED,
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--remount-ro',
  '/dev',
  '--proc',
  '/proc',
];
const EXECUTABLE = 'import sys; print(sys.executable)';
/** A program that is not Python could block on standard input, so it gets none. */
const WITHOUT_INPUT = 'exec "$0" "$@" </dev/null';
const TIMEOUT_MS = 60_000;

/** A Python that was seen to run in bubblewrap. */
export interface ConfinedPython {
  /** Not a script that starts it: within the filter nothing is started. */
  readonly executable: string;
  readonly filter: Buffer;
}

/** Tries a Python, a path or a name on the PATH, in bubblewrap; null where one of them does not run. */
export async function confinePython(python: string): Promise<ConfinedPython | null> {
  const filter = systemCallFilter();
  const path = isAbsolute(python) ? python : findProgram(python);
  if (process.platform !== 'linux' || filter === null || path === null) return null;
  const args = [...READ_ONLY, '--', '/bin/sh', '-c', WITHOUT_INPUT, path, '-I', '-c', EXECUTABLE];
  const printed = await runProgram('bwrap', args, { timeoutMs: TIMEOUT_MS }).catch(() => '');
  const executable = printed.trim();
  return isAbsolute(executable) ? { executable, filter } : null;
}

/** Starts a Python that can neither start a program nor connect to anything or write a file where it is confined. */
export function startPython(
  program: Program,
  confined: ConfinedPython | null,
  args: readonly string[],
): ChildProcessWithoutNullStreams {
  if (confined === null) return startProgram(program, args);
  const { executable, filter } = confined;
  const child = startProgram('bwrap', [...READ_ONLY, '--seccomp', '3', '--', executable, '-I', ...args], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const pipe = child.stdio[3] as Writable;
  pipe.on('error', () => undefined);
  pipe.end(filter);
  return child as ChildProcessWithoutNullStreams;
}
