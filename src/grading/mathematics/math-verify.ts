import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { reasonOf } from '../../reason-of';
import { PYTHON } from '../../start-program';
import { type Helper, HelperError, Killable } from '../killable';
import { type ConfinedPython, confinePython, startPython } from '../sandbox/confined-python';
import type { Comparison } from './engine';

export const INSTALL_MATH_VERIFY = 'pip install math-verify==0.9.0';

/** It imports sympy, which takes seconds on a busy machine. */
const LIMITS = { startMs: 60_000, answerMs: 10_000 };

const JUDGE = join(__dirname, '../../../src/grading/mathematics/math_verify_judge.py');

/** State of this process's Python; null until it was asked. */
let state: { readonly version: string } | { readonly missing: string } | null = null;

/** Found out once: whether bubblewrap keeps it in. */
let confined: { readonly found: ConfinedPython | null } | null = null;

const judge = new Killable(startJudge, LIMITS);

/** Result of a comparison by math-verify, with its version. */
export interface SecondOpinion {
  readonly comparison: Comparison;
  readonly version: string;
}

/**
 * Compares two expressions in LaTeX with math-verify; null where it is not installed, which is found out once.
 *
 * @throws HelperError where it fails, or takes too long
 */
export async function askMathVerify(right: string, answer: string): Promise<SecondOpinion | null> {
  if (state !== null && 'missing' in state) return null;
  try {
    await findConfinement();
    const found = await judge.ask({ right, answer });
    const version = state?.version ?? 'unknown';
    return { comparison: found === 'same' || found === 'no' ? found : 'unknown', version };
  } catch (error) {
    if (state === null) throw error;
    if ('missing' in state) return null;
    throw error;
  }
}

async function findConfinement(): Promise<void> {
  confined ??= { found: await confinePython(pythonPath()) };
}

/** Why math-verify cannot be asked, with what to do; null where it can. */
export async function mathVerifyProblem(): Promise<string | null> {
  await askMathVerify('1', '1').catch(() => null);
  return state !== null && 'missing' in state ? state.missing : null;
}

/** `CONDUCTOR_PYTHON`, else the one on the PATH. */
export function pythonPath(): string {
  const { CONDUCTOR_PYTHON: chosen = '' } = process.env;
  return chosen === '' ? PYTHON : chosen;
}

function startJudge(): Helper {
  const python = pythonPath();
  const child = start(python);
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)));
  // Ignores writes to a process that is being ended.
  child.stdin.on('error', () => undefined);
  for (const part of [child, child.stdin, child.stdout, child.stderr]) unref(part);
  return {
    post: (request) => child.stdin.write(`${JSON.stringify(request)}\n`),
    listen: (onMessage, onEnd) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const message: unknown = JSON.parse(line);
        if (isReady(message)) state = { version: message.ready };
        onMessage(message);
      });
      child.on('error', (error) => {
        state ??= { missing: cannotStart(python, error) };
        onEnd(error.message);
      });
      child.on('close', () => {
        if (words.includes('ModuleNotFoundError')) {
          state ??= { missing: `${python} has no math-verify: ${HINT}` };
        }
        onEnd(`it ended: ${words.trim().split('\n').at(-1) ?? ''}`);
      });
    },
    kill: () => child.kill('SIGKILL'),
  };
}

function start(python: string): ChildProcessWithoutNullStreams {
  try {
    return startPython({ python }, confined?.found ?? null, ['-u', JUDGE]);
  } catch (error) {
    state ??= { missing: cannotStart(python, error) };
    throw new HelperError(reasonOf(error));
  }
}

function cannotStart(python: string, error: unknown): string {
  return `${python} cannot be started (${reasonOf(error)}): ${HINT}`;
}

const HINT = `install it with "${INSTALL_MATH_VERIFY}", or name the Python that has it in CONDUCTOR_PYTHON`;

function isReady(message: unknown): message is { readonly ready: string } {
  return typeof message === 'object' && message !== null && 'ready' in message;
}

/** Lets the process exit while nobody waits for this; pipes have `unref` though their type does not say so. */
function unref(part: { unref?: () => unknown } | object): void {
  if ('unref' in part) part.unref?.();
}
