import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { codeOf, reasonOf } from '../../errors';
import { startProgram } from '../../start-program';
import { endOf, KILLED, type ProgramLimits, type ProgramRun, SandboxError, wallSecondsOf } from './sandbox';

/** A command that runs a program within limits of the kernel's. */
interface Command {
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

/** Bytes of standard error; a function may print to it. */
const MOST_ERRORS = 16 << 20;

/**
 * Runs a command to its end, and ends it where it prints too much or is not done in time. The kernel keeps it to the rest.
 *
 * @throws SandboxError where the command cannot be started, or did not come to run the program
 */
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
