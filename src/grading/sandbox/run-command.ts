import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { codeOf, reasonOf } from '../../reason-of';
import { startProgram } from '../../start-program';
import { MOST_STDERR, type ProgramLimits, type ProgramRun, SandboxError, WALL_CLOCK } from './sandbox';

/** A command that runs a program within limits of the kernel's. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Inputs on file descriptors 4, 5 and so on. */
  readonly texts: readonly (string | Buffer)[];
  /** User and group to run as; absent: as this process. */
  readonly uid?: number;
  /** Whether it tells by JSON lines on descriptor 3 what became of the program, as bubblewrap does. */
  readonly reports: boolean;
}

/**
 * Runs a command to its end, and ends it where it prints too much or is not done in time. The kernel keeps it to the rest.
 *
 * @throws SandboxError where the command cannot be started, did not come to run the program, or was given no time to
 */
export function runCommand(command: Command, limits: ProgramLimits): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const { file, texts } = command;
    const child = start(command);
    const stdout = new Capture(limits.outputBytes);
    const stderr = new Capture(MOST_ERRORS, MOST_STDERR);
    const report = new Capture(MOST_ERRORS);
    let stopped: string | SandboxError | null = null;
    const stop = (why: string | SandboxError): void => {
      stopped ??= why;
      endGroup(child.pid);
    };
    const kills = outOfMemoryKills();
    const wallSeconds = limits.seconds * WALL_CLOCK;
    const clock = setTimeout(() => {
      stop(whyLate(programOf(command, child.pid, report), wallSeconds));
    }, wallSeconds * 1000);
    stdout.read(child.stdio[1], () => {
      stop(`it printed more than ${limits.outputBytes} bytes`);
    });
    stderr.read(child.stdio[2], () => {
      stop(`it printed more than ${MOST_ERRORS} bytes of errors`);
    });
    report.read(child.stdio[3]);
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
      if (stopped instanceof SandboxError) reject(stopped);
      else if (stopped !== null) resolve({ kind: 'stopped', reason: stopped });
      else {
        const exitCode = command.reports ? numberIn(report.text, /"exit-code": (\d{1,9})/) : (code ?? KILLED);
        if (exitCode === null) {
          reject(new SandboxError(`${file} ended (${signal ?? code}): ${stderr.text.trim()}`));
        } else if (exitCode === KILLED && outOfMemoryKills() > kills) {
          reject(new SandboxError('memory ran out on this machine, and the kernel ended programs'));
        } else if (exitCode === CPU_TIME_IS_UP) {
          resolve({ kind: 'stopped', reason: `it took more than ${limits.seconds} s of CPU time` });
        } else resolve({ kind: 'ended', exitCode, stdout: stdout.text, stderr: stderr.text });
      }
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

/** 128 and SIGKILL, SIGXCPU. */
const [KILLED, CPU_TIME_IS_UP] = [137, 152];

/** How many processes the kernel has ended so far for want of memory. A program within its limits may be among them. */
function outOfMemoryKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Why a program that is not done must end. One that was ready to run for half of the time would have used up its CPU time
 * if it had been given a processor.
 */
function whyLate(pid: number | null, wallSeconds: number): string | SandboxError {
  if (pid !== null && readySeconds(pid) < wallSeconds / 2) return `it was not done after ${wallSeconds} s`;
  return new SandboxError(`the machine was too busy to give a program its CPU time in ${wallSeconds} s`);
}

/** How long the busiest thread of a process was on a processor or waited for one. */
function readySeconds(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
      const [ran = 0, waited = 0] = numbersIn(`/proc/${pid}/task/${thread}/schedstat`);
      return (ran + waited) / 1e9;
    });
    return Math.max(...threads);
  } catch {
    return 0;
  }
}

/** The program's process, which bubblewrap's within the sandbox started; null until it is there. */
function programOf({ reports }: Command, pid: number | undefined, report: Capture): number | null {
  if (!reports) return pid ?? null;
  const parent = numberIn(report.text, /"child-pid": (\d{1,9})/);
  try {
    return parent === null ? null : (numbersIn(`/proc/${parent}/task/${parent}/children`)[0] ?? null);
  } catch {
    return null;
  }
}

function numbersIn(file: string): number[] {
  return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean).map(Number);
}

/** A number of bubblewrap's report, of which no one else can write a word: the program does not inherit its descriptor. */
function numberIn(report: string, pattern: RegExp): number | null {
  const found = pattern.exec(report)?.[1];
  return found === undefined ? null : Number(found);
}

/** With bubblewrap gone, the kernel ends all of its sandbox. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Bytes of standard error that are kept, from its end; a function may print to it. */
const MOST_ERRORS = 16 << 20;

/** Collects the first bytes of a pipe, up to a bound. */
class Capture {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;

  /** @param kept so much of its end; absent: all of it */
  constructor(
    private readonly most: number,
    private readonly kept = Infinity,
  ) {}

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }

  read(pipe: unknown, tooMuch?: () => void): void {
    if (!(pipe instanceof Readable)) return;
    pipe.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      if (this.bytes > this.most) tooMuch?.();
      else this.chunks.push(chunk);
      if (this.kept === Infinity || this.chunks.length < 2) return;
      this.chunks.splice(0, this.chunks.length, Buffer.concat(this.chunks).subarray(-this.kept));
    });
    pipe.on('error', () => undefined);
  }
}
