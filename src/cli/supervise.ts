import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode, exitCodeFrom } from './exit-code';
import { unlessInterrupted } from './interruption';
import { say } from './terminal';

/** A process that is kept running. */
export interface Supervised {
  /** Name in sentences. */
  readonly name: string;
  /** Starts it; `sayReady` is called when it works. It must end by itself when this process is gone. */
  readonly start: (sayReady: () => void) => ChildProcess;
}

/** Crashes within the span below that are no accident. */
const MOST_CRASHES = 5;
const WITHIN_MS = 60_000;

/** The pause before it is started again; it doubles with each crash. */
const FIRST_PAUSE_MS = 1_000;

/** Longer than any process may drain for; one that has not ended by then does not listen. */
const STOP_MS = 40_000;

/**
 * Keeps a process running until it is to stop: native code may crash, and a run must not stand still until someone looks.
 * It is asked to stop at the end, and killed where it does not listen or this process may not wait.
 *
 * @param command goes on with what it left, see the error
 * @throws Error with the last reason where it crashes again and again
 */
export async function supervise(
  { name, start }: Supervised,
  command: string,
  stop: AbortSignal,
  sayReady: () => void,
): Promise<ExitCode> {
  let crashes: number[] = [];
  let hasWorked = false as boolean;
  while (!stop.aborted) {
    const child = start(() => {
      if (hasWorked) say(`The ${name} is working again.`);
      else sayReady();
      hasWorked = true;
    });
    const ended = endOf(child);
    const end = await unlessInterrupted(stop, ended);
    if (end === undefined) {
      await askToStop(child, ended);
    } else if (!hasWorked && end.code !== null) {
      // It has said itself why it could not begin: to try again would not help.
      return exitCodeFrom(end.code);
    } else {
      crashes = [...crashes.filter((time) => time > Date.now() - WITHIN_MS), Date.now()];
      if (crashes.length >= MOST_CRASHES) throw tooMany(name, command, end);
      const pauseMs = FIRST_PAUSE_MS * 2 ** (crashes.length - 1);
      say(`The ${name} in process ${child.pid ?? 0} ${end.how}: it is started again in ${pauseMs / 1000} s.`);
      await pause(pauseMs, undefined, { signal: stop }).catch(() => undefined);
    }
  }
  return EXIT.answered;
}

interface End {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly reason: string;
  readonly how: string;
}

async function endOf(child: ChildProcess): Promise<End> {
  const kill = (): unknown => child.kill('SIGKILL');
  process.on('exit', kill);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    const reason = signal ?? `exit code ${code ?? 'unknown'}`;
    return { code, reason, how: signal === null ? `ended with ${reason}` : `was killed by ${reason}` };
  } finally {
    process.off('exit', kill);
  }
}

async function askToStop(child: ChildProcess, ended: Promise<End>): Promise<void> {
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(patience);
}

function tooMany(name: string, command: string, { reason }: End): Error {
  return new Error(
    `the ${name} crashed ${MOST_CRASHES} times within a minute, the last time with ${reason}: see its lines above; ` +
      `runs are kept, and go on with the next "temporal-conductor ${command}"`,
  );
}
