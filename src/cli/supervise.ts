import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startProgram } from '../start-program';
import type { TrainableConfig } from '../training/config/schema';
import { EXIT, type ExitCode, exitCodeFrom } from './exit-code';
import { ConfigFollower } from './follow-config';
import { unlessInterrupted } from './interruption';
import type { WorkOptions } from './settings';
import { say } from './terminal';

/** So many deaths within so long are no accident. */
const MOST_DEATHS = 5;
const WITHIN_MS = 60_000;

/** The pause before the worker is started again; it doubles with each death. */
const FIRST_PAUSE_MS = 1_000;

/** Runs of versions older than that are over. */
const MOST_VERSIONS = 20;

/**
 * Keeps a worker running until the interruption, in a process of its own: native code may crash, and a run must not
 * stand still until someone looks. The worker is asked to stop at the end, and killed where this process may not wait.
 *
 * A changed configuration takes another process: the one before polls no more, and drains beside it. Runs under way keep
 * what they were resolved to, so the new one serves the models and queues of earlier versions, too.
 *
 * @param sayReady is called when the worker works for the first time
 * @throws Error with the last reason where the worker dies again and again
 */
export async function superviseWorker(
  loaded: TrainableConfig,
  options: WorkOptions,
  interruption: AbortSignal,
  sayReady: () => void,
): Promise<ExitCode> {
  let versions: Versions = [loaded];
  let next: TrainableConfig | undefined;
  let change = new AbortController();
  const follower = new ConfigFollower(loaded, options, (config) => {
    next = config;
    change.abort();
  });
  const worked = new Set<TrainableConfig>();
  const leaving: Promise<End>[] = [];
  const deaths = new Deaths('worker', 'up');
  let greet = sayReady;
  try {
    while (!interruption.aborted) {
      change = new AbortController();
      if (next !== undefined) versions = [next, ...versions.slice(0, MOST_VERSIONS)];
      next = undefined;
      const child = forkWorker(options.config, versions);
      child.once('message', () => {
        worked.add(versions[0]);
        greet();
        greet = sayWorkingAgain;
      });
      const ended = endOf(child);
      const end = await unlessInterrupted(AbortSignal.any([interruption, change.signal]), ended);
      if (end === undefined) {
        child.kill('SIGTERM');
        leaving.push(ended);
        greet = worked.size === 0 ? sayReady : sayChanged;
      } else if (worked.has(versions[0]) || end.code === null) {
        await deaths.count(child, end, interruption);
      } else {
        // It has said itself why it could not begin: to try again would not help.
        const [, before, ...older] = versions;
        if (before === undefined) return exitCodeFrom(end.code);
        say('No worker can begin with it, so the version before it holds.');
        versions = [before, ...older];
        follower.takeBack(before);
      }
    }
  } finally {
    follower.stop();
    await Promise.all(leaving);
  }
  return EXIT.answered;
}

/** The one that holds, then those before it. */
type Versions = readonly [TrainableConfig, ...TrainableConfig[]];

function sayWorkingAgain(): void {
  say('Working again.');
}

function sayChanged(): void {
  say('Working with it. Runs under way keep what they were started with.');
}

/** Counts deaths of a process, and waits before the next one is started. */
export class Deaths {
  private times: number[] = [];

  /** @param command what goes on with what the process left */
  constructor(
    private readonly name: string,
    private readonly command: string,
  ) {}

  /** @throws Error with the reason of the last one where they are too many */
  async count({ pid = 0 }: ChildProcess, { how, reason }: End, interruption: AbortSignal): Promise<void> {
    this.times = [...this.times.filter((time) => time > Date.now() - WITHIN_MS), Date.now()];
    if (this.times.length >= MOST_DEATHS) throw this.tooMany(reason);
    const pauseMs = FIRST_PAUSE_MS * 2 ** (this.times.length - 1);
    say(`The ${this.name} in process ${pid} ${how}: it is started again in ${pauseMs / 1000} s.`);
    await pause(pauseMs, undefined, { signal: interruption }).catch(() => undefined);
  }

  private tooMany(reason: string): Error {
    return new Error(
      `the ${this.name} died ${MOST_DEATHS} times within a minute, the last time of ${reason}: see its lines ` +
        `above; runs are kept, and go on with the next "temporal-conductor ${this.command}"`,
    );
  }
}

/** What a worker process is told by its supervisor. */
export interface WorkerOrders {
  readonly config: TrainableConfig;
  readonly earlier: readonly TrainableConfig[];
}

/** In a process group of its own, so that Ctrl-C in a terminal reaches only this process, which then decides. */
function forkWorker(file: string | undefined, [config, ...earlier]: Versions): ChildProcess {
  const args = ['up-worker', ...(file === undefined ? [] : ['--config', file])];
  const child = startProgram(process.execPath, [...process.execArgv, join(__dirname, 'main.js'), ...args], {
    // It works for this folder, and asks models.
    cwd: process.cwd(),
    passes: 'all',
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  // Not read from the file again, which may have changed meanwhile. One that dies before it listens has an end of its own.
  child.send({ config, earlier } satisfies WorkerOrders, () => undefined);
  return child;
}

export interface End {
  /** null where a signal ended it. */
  readonly code: number | null;
  readonly reason: string;
  readonly how: string;
}

export async function endOf(child: ChildProcess): Promise<End> {
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
