import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { codeOf, reasonOf } from '../../errors';
import { startProgram } from '../../start-program';

export interface Program {
  readonly python: string;
  readonly stdin: string;
}

export interface ProgramLimits {
  /** CPU time: a busy machine takes nothing from it. */
  readonly seconds: number;
  readonly memoryMb: number;
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
  readonly name: string;
  readonly places: number;
  /** @throws SandboxError where the sandbox itself fails; whatever the program does to itself is in the result */
  run(program: Program, limits: ProgramLimits): Promise<ProgramRun>;
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
const KILLED = 137;
const CPU_TIME_IS_UP = 152;
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

/** A command that runs a program within limits of the kernel's. */
interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Inputs on file descriptors 4, 5 and so on. */
  readonly texts: readonly (string | Buffer)[];
  readonly uid?: number;
  /** Whether it tells by JSON lines on descriptor 3 what became of the program, as bubblewrap does. */
  readonly reports: boolean;
}

const MOST_ERRORS = 16 << 20;

/** Runs a command to its end, and ends it where it prints too much or is late. @throws SandboxError where it did not run */
export function runCommand(command: Command, limits: ProgramLimits): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const { file, texts, reports } = command;
    const kills = outOfMemoryKills();
    const child = start(command);
    let stopped: string | null = null;
    const stop = (reason: string): void => {
      stopped ??= reason;
      endGroup(child.pid);
    };
    const wallSeconds = wallSecondsOf(limits);
    const clock = setTimeout(stop, wallSeconds * 1000, `it was not done after ${wallSeconds} s`);
    const collect = (pipe: number, most: number, what: string): (() => string) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      (child.stdio[pipe] as Readable).on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= most) chunks.push(chunk);
        else stop(`it printed more than ${most} ${what}`);
      });
      return () => Buffer.concat(chunks).toString('utf8');
    };
    const stdout = collect(1, limits.outputBytes, 'bytes');
    const stderr = collect(2, MOST_ERRORS, 'bytes of errors');
    const report = collect(3, MOST_ERRORS, 'bytes of a report');
    for (const [index, text] of texts.entries()) {
      const pipe = child.stdio[index + 4] as Writable;
      // A command that ends before it has read everything says so itself.
      pipe.on('error', () => undefined);
      pipe.end(text);
    }
    child.on('error', (error) => {
      clearTimeout(clock);
      reject(cannotStart(file, error));
    });
    child.on('close', (code, signal) => {
      clearTimeout(clock);
      endGroup(child.pid);
      // No program can write a word of the report: it does not inherit its descriptor.
      const exitCode = reports ? /"exit-code": (\d{1,9})/.exec(report())?.[1] : (code ?? KILLED);
      if (stopped !== null) resolve({ kind: 'stopped', reason: stopped });
      else if (exitCode === undefined) {
        reject(new SandboxError(`${file} ended (${signal ?? code}): ${stderr().trim()}`));
      } else if (Number(exitCode) === KILLED && outOfMemoryKills() > kills) {
        reject(new SandboxError('memory ran out on this machine, and the kernel ended programs'));
      } else resolve(endOf(Number(exitCode), { stdout: stdout(), stderr: stderr() }, limits));
    });
  });
}

function start({ file, args, cwd, texts, uid }: Command): ChildProcess {
  try {
    return startProgram(file, args, {
      cwd,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...texts.map(() => 'pipe' as const)],
      detached: true,
      ...(uid !== undefined && { uid, gid: uid }),
    });
  } catch (error) {
    throw cannotStart(file, error);
  }
}

function cannotStart(file: string, error: unknown): SandboxError {
  const code = codeOf(error);
  return new SandboxError(`${file} cannot be started (${typeof code === 'string' ? code : reasonOf(error)})`);
}

/** How many processes the kernel has ended so far for want of memory. A program within its limits may be among them. */
function outOfMemoryKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** With bubblewrap gone, the kernel ends all of its sandbox. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
