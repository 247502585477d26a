import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode, exitCodeFrom } from './exit-code';
import { unlessInterrupted } from './interruption';
import { say } from './terminal';

/** So many deaths within so long are no accident. */
const MOST_DEATHS = 5;
const WITHIN_MS = 60_000;

/** The pause before the worker is started again; it doubles with each death. */
const FIRST_PAUSE_MS = 1_000;

/**
 * Keeps a worker running until the interruption, in a process of its own: native code may crash, and a run must not
 * stand still until someone looks. The worker is asked to stop at the end, and killed where this process may not wait.
 *
 * @param sayReady is called when the worker works for the first time
 * @throws Error with the last reason where the worker dies again and again
 */
export async function superviseWorker(
  file: string | undefined,
  interruption: AbortSignal,
  sayReady: () => void,
): Promise<ExitCode> {
  let deaths: number[] = [];
  let isTried = false as boolean;
  while (!interruption.aborted) {
    const child = forkWorker(file);
    child.once('message', () => {
      if (isTried) say('Working again.');
      else sayReady();
      isTried = true;
    });
    const ended = endOf(child);
    const end = await unlessInterrupted(interruption, ended);
    if (end === undefined) {
      child.kill('SIGTERM');
      await ended;
      break;
    }
    // It has said itself why it could not begin: to try again would not help.
    if (!isTried && end.code !== null) return exitCodeFrom(end.code);
    deaths = [...deaths.filter((time) => time > Date.now() - WITHIN_MS), Date.now()];
    if (deaths.length >= MOST_DEATHS) throw tooManyDeaths(end.reason);
    const pauseMs = FIRST_PAUSE_MS * 2 ** (deaths.length - 1);
    say(`The worker in process ${child.pid ?? 0} ${end.how}: it is started again in ${pauseMs / 1000} s.`);
    await pause(pauseMs, undefined, { signal: interruption }).catch(() => undefined);
  }
  return EXIT.answered;
}

/** In a process group of its own, so that Ctrl-C in a terminal reaches only this process, which then decides. */
function forkWorker(file: string | undefined): ChildProcess {
  const args = ['up-worker', ...(file === undefined ? [] : ['--config', file])];
  return fork(join(__dirname, 'main.js'), args, {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

interface End {
  /** null where a signal ended it. */
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

function tooManyDeaths(reason: string): Error {
  return new Error(
    `the worker died ${MOST_DEATHS} times within a minute, the last time of ${reason}: see its lines above; ` +
      'runs are kept, and go on with the next "temporal-conductor up"',
  );
}
