import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { codeOf, reasonOf } from '../../errors';
import { startProgram } from '../../runtime/start-program';

export interface SandboxedProgram {
  readonly python: string;
  readonly stdin: string;
}

export interface ProgramLimits {
  /** CPU time, so that a busy machine does not shorten it. */
  readonly seconds: number;
  readonly memoryMb: number;
  readonly outputBytes: number;
}

/** Outcome of a program. `stopped`: by a limit, which `reason` describes. */
export type ProgramRun =
  | {
      readonly kind: 'ended';
      /** 128 plus the signal's number if a signal ended it. */
      readonly exitCode: number;
      readonly stdout: string;
      /** Its last 2,000 characters. */
      readonly stderr: string;
    }
  | { readonly kind: 'stopped'; readonly reason: string };

/** Isolated environment for untrusted programs. */
export interface Sandbox {
  readonly name: string;
  readonly places: number;
  /** @throws SandboxError if the sandbox itself fails; a failure of the program is part of the result */
  run(program: SandboxedProgram, limits: ProgramLimits): Promise<ProgramRun>;
  remedyFor(words: string): string;
}

/** Failure of the sandbox itself, which says nothing about the program. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** Returns the wall-clock limit, ten times the CPU time, since a program may wait. */
export function wallSecondsOf({ seconds }: ProgramLimits): number {
  return 10 * seconds;
}

/** 128 plus the numbers of SIGKILL and SIGXCPU. */
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

/** A command that runs a program within kernel limits. */
interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Inputs on file descriptors 4, 5 and so on. */
  readonly texts: readonly (string | Buffer)[];
  readonly uid?: number;
  /** Whether it reports the program's end in JSON lines on file descriptor 3, as bubblewrap does. */
  readonly reports: boolean;
}

const MOST_ERRORS = 16 << 20;

/** Runs a command; kills it if it prints too much or takes too long. @throws SandboxError if it did not run */
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
      // A command that ends before it has read everything reports that itself.
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
      // A program cannot forge the report: it does not inherit the file descriptor.
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

/** Counts the processes that the kernel killed for lack of memory; a program within its limits may be among them. */
function outOfMemoryKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Kills a command's process group. When bubblewrap is gone, the kernel ends its whole sandbox. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
