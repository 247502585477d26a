import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { isAbsolute, join } from 'node:path';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { reasonOf } from '../../errors';
import { findProgram, PYTHON, runProgram, startProgram } from '../../runtime/start-program';
import { type Helper, HelperError, Killable } from '../../runtime/killable';
import { CONFINED } from '../sandbox/bubblewrap';
import { systemCallFilter } from '../sandbox/system-calls';
import type { Sameness } from './compare';

export const INSTALL_MATH_VERIFY = 'pip install math-verify==0.9.0';

const JUDGE = join(__dirname, '../../../src/grading/mathematics/math_verify_judge.py');

/** Starting it imports sympy, which takes seconds on a busy machine. */
const judge = new Killable(startJudge, { startMs: 60_000, answerMs: 10_000 });

/** Detected once: why math-verify is missing, and the Python that bubblewrap confines, if any. */
const found: { missing: string | null; confined?: string | null } = { missing: null };

interface SecondOpinion {
  readonly comparison: Sameness;
  readonly version: string;
}

/** Compares two expressions in LaTeX. Returns null if math-verify is not installed. @throws HelperError if it fails */
export async function askMathVerify(right: string, answer: string): Promise<SecondOpinion | null> {
  const { missing } = found;
  if (missing !== null) return null;
  try {
    if (found.confined === undefined) found.confined = await confinePython(pythonPath());
    return (await judge.ask({ right, answer })) as SecondOpinion;
  } catch (error) {
    // Set while the judge was asked.
    if (found.missing !== null) return null;
    throw error;
  }
}

/** Returns why math-verify cannot be started, with a remedy, or null if it can. */
export async function mathVerifyProblem(): Promise<string | null> {
  await askMathVerify('1', '1').catch(() => null);
  return found.missing;
}

/** Returns `CONDUCTOR_PYTHON`, or else the Python on the PATH. */
export function pythonPath(): string {
  const { CONDUCTOR_PYTHON: chosen = '' } = process.env;
  return chosen === '' ? PYTHON : chosen;
}

function startJudge(): Helper {
  const child = start();
  // Ignores writes to a process that is being ended.
  child.stdin.on('error', () => undefined);
  // Lets the process exit while nobody waits for this.
  child.unref();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as Partial<Socket>).unref?.();
  return {
    post: (request) => child.stdin.write(`${JSON.stringify(request)}\n`),
    answers: answersOf(child),
    kill: () => child.kill('SIGKILL'),
  };
}

function start(): ChildProcessWithoutNullStreams {
  try {
    return startPython(pythonPath(), found.confined ?? null, ['-u', JUDGE]);
  } catch (error) {
    throw cannotStart(error);
  }
}

const HINT = `install it with "${INSTALL_MATH_VERIFY}", or name the Python that has it in CONDUCTOR_PYTHON`;

function cannotStart(error: unknown): HelperError {
  found.missing = `${pythonPath()} cannot be started (${reasonOf(error)}): ${HINT}`;
  return new HelperError(found.missing);
}

async function* answersOf(child: ChildProcessWithoutNullStreams): AsyncGenerator {
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)));
  const closed = once(child, 'close').then(() => null, cannotStart);
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
  const failure = await closed;
  if (words.includes('ModuleNotFoundError')) found.missing = `${pythonPath()} has no math-verify: ${HINT}`;
  throw failure ?? new HelperError(`it ended: ${words.trim().split('\n').at(-1) ?? ''}`);
}

/** The process sees all files, since Python may be anywhere; it can neither write files nor connect to anything. */
const READ_ONLY = [
  ...CONFINED,
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--remount-ro', '/dev', '--proc', '/proc'],
];

/**
 * Tries a Python, given as a path or a name on the PATH, in bubblewrap. Returns null if either does not run, or else
 * the executable itself, not a script that starts it, since the filter lets nothing be started.
 */
export async function confinePython(python: string): Promise<string | null> {
  const path = isAbsolute(python) ? python : findProgram(python);
  if (process.platform !== 'linux' || systemCallFilter() === null || path === null) return null;
  // A program that is not Python could block on standard input, so it gets none.
  const command = ['/bin/sh', '-c', 'exec "$0" "$@" </dev/null', path, '-I', '-c'];
  const args = [...READ_ONLY, '--', ...command, 'import sys; print(sys.executable)'];
  const printed = await runProgram('bwrap', args, { timeout: 60_000 }).catch(() => '');
  return isAbsolute(printed.trim()) ? printed.trim() : null;
}

/** Starts a Python. If confined, it can neither start programs nor connect to anything nor write files. */
export function startPython(
  python: string,
  confined: string | null,
  args: readonly string[],
): ChildProcessWithoutNullStreams {
  if (confined === null) return startProgram({ python }, args) as ChildProcessWithoutNullStreams;
  const child = startProgram('bwrap', [...READ_ONLY, '--seccomp', '3', '--', confined, '-I', ...args], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const pipe = child.stdio[3] as Writable;
  pipe.on('error', () => undefined);
  pipe.end(systemCallFilter());
  return child as ChildProcessWithoutNullStreams;
}
