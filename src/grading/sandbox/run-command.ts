import { spawn } from 'node:child_process';
import { Readable, type Writable } from 'node:stream';
import { MOST_STDERR, type ProgramLimits, type ProgramRun, SandboxError, WALL_CLOCK } from './sandbox';
import { measureTree, type TreeUse } from './process-tree';

/** A command that runs a program within limits which hold for each of its processes. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Texts that it reads from descriptors 4, 5 and so on. */
  readonly texts: readonly string[];
  /** User and group to run as; absent: as this process. */
  readonly uid?: number;
  /** Whether it tells by JSON lines on descriptor 3 what became of the program, as bubblewrap does. */
  readonly reports: boolean;
}

const LOOK_MS = 100;

/**
 * Runs a command to its end, and ends it with all its processes where together they use more than the limits.
 *
 * @throws SandboxError where the command cannot be started, did not come to run the program, or was given no time to
 */
export function runCommand(command: Command, limits: ProgramLimits): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const { file, args, cwd, texts, uid } = command;
    const child = spawn(file, args, {
      cwd: cwd ?? '/',
      // Nothing of this process's environment: it holds keys.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...texts.map(() => 'pipe' as const)],
      detached: true,
      ...(uid !== undefined && { uid, gid: uid }),
    });
    const stdout = new Capture(limits.outputBytes);
    const stderr = new Capture(MOST_ERRORS, MOST_STDERR);
    const report = new Capture(MOST_ERRORS);
    let stopped: string | SandboxError | null = null;
    const stop = (why: string | SandboxError): void => {
      stopped ??= why;
      endGroup(child.pid);
    };
    const startedAt = performance.now();
    const watch = setInterval(() => {
      const over = exceeded(pidToWatch(command, child.pid, report), limits, performance.now() - startedAt);
      if (over !== null) stop(over);
    }, LOOK_MS);
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
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearInterval(watch);
      reject(new SandboxError(`${file} cannot be started (${error.code ?? error.message})`));
    });
    child.on('close', (code, signal) => {
      clearInterval(watch);
      endGroup(child.pid);
      if (stopped instanceof SandboxError) reject(stopped);
      else if (stopped !== null) resolve({ kind: 'stopped', reason: stopped });
      else {
        const exitCode = command.reports ? numberIn(report.text, /"exit-code": (\d{1,9})/) : (code ?? 137);
        if (exitCode === null) {
          reject(new SandboxError(`${file} ended (${signal ?? code}): ${stderr.text.trim()}`));
        } else if (exitCode === CPU_TIME_IS_UP) resolve({ kind: 'stopped', reason: outOfCpu(limits) });
        else resolve({ kind: 'ended', exitCode, stdout: stdout.text, stderr: stderr.text });
      }
    });
  });
}

/** 128 and SIGXCPU. */
const CPU_TIME_IS_UP = 152;

function outOfCpu({ seconds }: ProgramLimits): string {
  return `it took more than ${seconds} s of CPU time`;
}

/** Why a program must end; null where it may go on. */
function exceeded(pid: number | null, limits: ProgramLimits, wallMs: number): string | SandboxError | null {
  const used = pid === null ? null : measureTree(pid);
  if (used !== null && used.memoryMb > limits.memoryMb) {
    return `its processes took more than ${limits.memoryMb} MB together`;
  }
  // One process is ended at its limit by the kernel, which counts exactly.
  if (used !== null && used.cpuMs > (limits.seconds + 1) * 1000) return outOfCpu(limits);
  if (wallMs <= limits.seconds * WALL_CLOCK * 1000) return null;
  const seconds = Math.round(wallMs / 1000);
  if (used !== null && wasStarved(used, wallMs)) {
    return new SandboxError(`the machine was too busy to give a program its CPU time in ${seconds} s`);
  }
  return `it was not done after ${seconds} s`;
}

/** The sandbox's own, the program's first, and one beside it. */
const FEW_THREADS = 4;

/** Whether it wanted to go on and had no processor: that of many threads is their own doing. */
function wasStarved({ cpuMs, waitedMs, threads }: TreeUse, wallMs: number): boolean {
  return threads <= FEW_THREADS && cpuMs + waitedMs > wallMs / 2;
}

/** The process that all of the program's descend from; null until it is there. */
function pidToWatch({ reports }: Command, pid: number | undefined, report: Capture): number | null {
  return reports ? numberIn(report.text, /"child-pid": (\d{1,9})/) : (pid ?? null);
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

/** Of standard error in all, which a function may print to; its end is kept. */
const MOST_ERRORS = 16 << 20;

/** What comes from a pipe, at most so much of it. */
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
