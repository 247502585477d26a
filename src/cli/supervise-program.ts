import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { startProgram } from '../start-program';
import { EXIT, type ExitCode, exitCodeFrom } from './exit-code';
import { unlessInterrupted } from './interruption';
import { Deaths, endOf } from './supervise';
import { say } from './terminal';

/** A program that writes a line to stdout when it works, and ends when its stdin does. */
export interface Program {
  /** As sentences call it. */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** All of it is passed on. */
  readonly env: NodeJS.ProcessEnv;
}

/** Longer than a program may drain for; what has not ended by then does not listen. */
const STOP_MS = 40_000;

/**
 * Keeps a program running until it is to stop: it is started again when it dies. It does not outlive this process,
 * however that ends, since its stdin ends with it.
 *
 * @param command what goes on with what it left
 * @throws Error with the last reason where it dies again and again
 */
export async function superviseProgram(
  program: Program,
  command: string,
  stop: AbortSignal,
  sayReady: () => void,
): Promise<ExitCode> {
  const deaths = new Deaths(program.name, command);
  let isTried = false as boolean;
  while (!stop.aborted) {
    const child = start(program, () => {
      if (isTried) say(`The ${program.name} is working again.`);
      else sayReady();
      isTried = true;
    });
    const ended = endOf(child);
    const end = await unlessInterrupted(stop, ended);
    if (end === undefined) {
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(patience);
    } else if (isTried || end.code === null) await deaths.count(child, end, stop);
    // It has said itself why it could not begin: to try again would not help.
    else return exitCodeFrom(end.code);
  }
  return EXIT.answered;
}

/** In a process group of its own, so that Ctrl-C in a terminal reaches only this process, which then decides. */
function start({ command: [file, ...args], env }: Program, onReady: () => void): ChildProcess {
  // Its options may name files of this folder.
  const setting = { cwd: process.cwd(), env, passes: 'all', detached: true } as const;
  const child = startProgram(file, args, { ...setting, stdio: ['pipe', 'pipe', 'inherit'] });
  if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', onReady);
  return child;
}
