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
  /** Printed once, when it is ready. */
  readonly line: string;
  /** Starts it; `sayReady` is called when it works. It must end by itself when this process is gone. */
  readonly start: (sayReady: () => void) => ChildProcess;
}

/** The pause before it is started again doubles with each crash, until one has worked for a minute. */
const FIRST_PAUSE_MS = 1_000;
const MOST_CRASHES = 5;
const WORKED_MS = 60_000;

/** Longer than any process may drain for; one that has not ended by then does not listen. */
const STOP_MS = 40_000;

/**
 * Keeps a process running until it is to stop: native code may crash, and a run must not stand still until someone looks.
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
  let hasWorked = false as boolean;
  for (let crashes = 1; !stop.aborted; crashes += 1) {
    const startedAt = Date.now();
    const child = start(() => {
      if (hasWorked) say(`The ${name} is working again.`);
      else sayReady();
      hasWorked = true;
    });
    const end = await untilEnd(child, stop);
    if (end === undefined) break;
    // It has said itself why it could not begin: to try again would not help.
    if (!hasWorked && end.code !== null) return exitCodeFrom(end.code);
    if (Date.now() - startedAt > WORKED_MS) crashes = 1;
    const how = end.code === null ? `was killed by ${end.signal ?? ''}` : `ended with exit code ${end.code}`;
    if (crashes >= MOST_CRASHES) {
      throw new Error(
        `the ${name} crashed ${MOST_CRASHES} times, the last time it ${how}: see its lines above; runs are kept, ` +
          `and go on with the next "temporal-conductor ${command}"`,
      );
    }
    const pauseMs = FIRST_PAUSE_MS * 2 ** (crashes - 1);
    say(`The ${name} in process ${child.pid ?? 0} ${how}: it is started again in ${pauseMs / 1000} s.`);
    await pause(pauseMs, undefined, { signal: stop }).catch(() => undefined);
  }
  return EXIT.answered;
}

interface End {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Waits for its end; where it is to stop, asks it to, and kills it if it does not listen or this process must not wait. */
async function untilEnd(child: ChildProcess, stop: AbortSignal): Promise<End | undefined> {
  const kill = (): unknown => child.kill('SIGKILL');
  process.on('exit', kill);
  const exit = once(child, 'exit') as Promise<[End['code'], End['signal']]>;
  const ended = exit.then(([code, signal]): End => ({ code, signal }));
  const end = await unlessInterrupted(stop, ended);
  if (end === undefined) {
    child.kill('SIGTERM');
    const late = setTimeout(kill, STOP_MS);
    await ended;
    clearTimeout(late);
  }
  process.off('exit', kill);
  return end;
}
