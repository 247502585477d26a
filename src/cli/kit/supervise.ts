import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode, exitCodeFrom, unlessInterrupted } from './ending';
import { say } from './terminal';

export interface Supervised {
  readonly name: string;
  /** Starts a child that exits when this process is gone; `sayReady` is called, with a line to print, once it works. */
  readonly start: (sayReady: (line: string) => void) => ChildProcess;
  /** Whether the others are stopped only once this one has ended, since its work needs them. */
  readonly stopsFirst?: boolean;
}

/** Pause before the first restart; it doubles with each crash, and resets once a child has worked for a minute. */
const FIRST_PAUSE_MS = 1_000;
const MOST_CRASHES = 5;
const WORKED_MS = 60_000;

/** Time between SIGTERM and SIGKILL; longer than any process may drain. */
const STOP_MS = 40_000;

/** Keeps processes running until interrupted; if one ends for good, the others are stopped. */
export async function superviseAll(
  parts: readonly Supervised[],
  command: string,
  interruption: AbortSignal,
): Promise<ExitCode> {
  const ended = new AbortController();
  const stop = AbortSignal.any([interruption, ended.signal]);
  const stopRest = new AbortController();
  let waiting = parts.length;
  const all = parts.map((part) => {
    const ownStop = part.stopsFirst === true ? stop : stopRest.signal;
    const supervised = supervise(part, command, ownStop, (line) => {
      say(line);
      waiting -= 1;
      if (waiting === 0) say(READY);
    });
    return supervised.finally(() => {
      ended.abort();
    });
  });
  const first = Promise.allSettled(all.filter((_, index) => parts[index]?.stopsFirst === true));
  // All parts must have stopped before the first error is thrown.
  const whole = Promise.allSettled(all);
  await unlessInterrupted(stop, whole);
  await first;
  stopRest.abort();
  await whole;
  const codes = await Promise.all(all);
  return codes.find((code) => code !== EXIT.answered) ?? EXIT.answered;
}

export const STOP = 'Press Ctrl-C to stop.';
export const READY = `Ready. ${STOP}`;

/** Restarts a part when native code crashes. @throws Error with the last reason after too many crashes */
async function supervise(
  part: Supervised,
  command: string,
  stop: AbortSignal,
  sayReady: (line: string) => void,
) {
  const { name, start } = part;
  let said = null as string | null;
  for (let crashes = 1; !stop.aborted; crashes += 1) {
    const startedAt = Date.now();
    const child = start((line) => {
      if (said === null) sayReady(line);
      else say([`The ${name} is working again.`, ...(line === said ? [] : [line])].join('\n'));
      said = line;
    });
    const end = await untilEnd(child, stop);
    if (end === undefined) break;
    const [code, signal] = end;
    // It has printed why it could not start; a restart would not help.
    if (said === null && code !== null) return exitCodeFrom(code);
    if (Date.now() - startedAt > WORKED_MS) crashes = 1;
    const how = code === null ? `was killed by ${signal ?? ''}` : `ended with exit code ${code}`;
    if (crashes >= MOST_CRASHES) {
      const what = `the ${name} crashed ${MOST_CRASHES} times, the last time it ${how}: see its lines above`;
      throw new Error(`${what}; runs are kept, and go on with the next "temporal-conductor ${command}"`);
    }
    const pauseMs = FIRST_PAUSE_MS * 2 ** (crashes - 1);
    const when = `it is started again in ${pauseMs / 1000} s`;
    say(`The ${name} in process ${child.pid ?? 0} ${how}: ${when}.`, { level: 'WARN' });
    await pause(pauseMs, undefined, { signal: stop }).catch(() => undefined);
  }
  return EXIT.answered;
}

/** Returns its exit code and signal, or undefined if it was asked to stop (and killed if it did not). */
async function untilEnd(child: ChildProcess, stop: AbortSignal) {
  const kill = (): unknown => child.kill('SIGKILL');
  process.on('exit', kill);
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
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
