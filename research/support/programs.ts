import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

// Runs programs of this repository in their own processes, and exchanges lines with them.

const ROOT = resolve(__dirname, '../..');
const COMPILER = join(ROOT, 'scripts/run-typescript.cjs');
const PREPARE = join(ROOT, 'scripts/prepare-trainer.mjs');

export interface ChildProgram {
  readonly pid: number;
  /** Returns the next line of its stdout. Rejects with its stderr if it ends instead. */
  nextLine(): Promise<string>;
  /** Reads the next line as JSON. */
  nextMessage(): Promise<unknown>;
  tell(line: string): void;
  /** Pauses or resumes it; has no effect after it has ended. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it by SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void>;
  /** Resolves to its exit code when it has ended; null if a signal ended it. */
  ended(): Promise<number | null>;
  /** Resolves to how it ended and its last stderr if it ends unexpectedly; else never settles. */
  readonly lost: Promise<string>;
}

/** A part of the trainer. */
export interface PythonProgram extends ChildProgram {
  /** Its first line, which it prints when it is ready. */
  readonly ready: unknown;
}

/** Runs a TypeScript file under Node; `env` is its whole environment. */
export function runChild(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProgram {
  return runProgram(process.execPath, ['--require', COMPILER, file, ...args], env);
}

/**
 * Runs a part of the trainer and waits for its first line. It ends with this process, even if this one is killed.
 *
 * @param name a module of `conductor_trainer`, or a file below `trainer/`
 */
export async function runPython(
  name: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<PythonProgram> {
  const program = name.endsWith('.py')
    ? [join(ROOT, 'trainer', name)]
    : ['-m', `conductor_trainer.${name}`, '--end-with-stdin'];
  const child = runProgram(await trainerPython(), [...program, ...args], { ...trainerEnv(), ...env });
  return { ...child, ready: await child.nextMessage() };
}

/** Returns an environment with the trainer's sources, in which Python uses one core unless OMP_NUM_THREADS is set. */
export function trainerEnv(): NodeJS.ProcessEnv {
  const PYTHONPATH = join(ROOT, 'trainer/src');
  return { OMP_NUM_THREADS: '1', ...process.env, PYTHONPATH, HF_HUB_OFFLINE: '1' };
}

let python: Promise<string> | undefined;

/** Returns the path of the trainer's Python; makes its environment if there is none yet. */
export function trainerPython(): Promise<string> {
  python ??= promisify(execFile)(process.execPath, [PREPARE]).then(({ stdout }) => stdout.trim());
  return python;
}

/** Runs any program; `env` is its whole environment. */
export function runProgram(command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProgram {
  const name = args.join(' ');
  const child = spawn(command, args, { env });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started.`);
  const { how, lost, end } = watchProcess(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const line: IteratorResult<string, unknown> = await lines.next();
    if (line.done) throw new Error(`${name} ${await how}`);
    return line.value;
  };
  return {
    pid,
    nextLine,
    nextMessage: async () => JSON.parse(await nextLine()) as unknown,
    tell: (line) => child.stdin.write(`${line}\n`),
    signal: (name) => child.kill(name),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    ended: async () => {
      await how;
      return child.exitCode;
    },
    lost,
  };
}

/** Characters kept of what a process wrote to stderr. */
const LAST_WORDS = 8_000;

/** Time after a process's end in which its last output arrives. */
const LINGERING_MS = 500;

/** End of a process, and a function to end it on purpose. */
export interface WatchedProcess {
  /** Resolves to how it ended and its last stderr. */
  readonly how: Promise<string>;
  readonly lost: Promise<string>;
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
}

/** Processes that this one started and that have not ended: they end with it. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

export function watchProcess(child: ChildProcess): WatchedProcess {
  running.add(child);
  child.once('exit', () => running.delete(child));
  let lastWords = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    lastWords = (lastWords + chunk.toString()).slice(-LAST_WORDS);
  });
  let isAsked = false;
  const closed = once(child, 'close');
  const how = once(child, 'exit').then(async ([code, signal]: (number | string | null)[]) => {
    // Its own children may hold its pipes open for longer.
    await Promise.race([closed, setTimeout(LINGERING_MS, undefined, { ref: false })]);
    const end = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    return lastWords === '' ? end : `${end}:\n${lastWords.trimEnd()}`;
  });
  return {
    how,
    lost: new Promise((resolve) => {
      void how.then((end) => {
        if (!isAsked) resolve(end);
      });
    }),
    end: async (signal) => {
      isAsked = true;
      child.kill(signal);
      await how;
    },
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let interruption: AbortController | undefined;

/** Returns a signal that the first Ctrl-C or kill aborts, so that the work ends what it started; a second one kills. */
function interrupted(): AbortSignal {
  if (interruption === undefined) {
    const controller = new AbortController();
    const interrupt = (): void => {
      for (const signal of SIGNALS) process.off(signal, interrupt);
      controller.abort(new Error('Interrupted. Progress is saved; run this command again to go on.'));
    };
    for (const signal of SIGNALS) process.on(signal, interrupt);
    interruption = controller;
  }
  return interruption.signal;
}

/** Processes that the work depends on. */
export interface NeededProcesses {
  /**
   * Aborted when one of them ends unexpectedly, with an error that says which, how, and what to do, or when this process
   * is asked to end.
   */
  readonly lost: AbortSignal;
  /** Adds a process and returns it. */
  readonly need: <Program extends Pick<ChildProgram, 'lost'>>(name: string, program: Program) => Program;
}

/** @param folder of their data, which the error names */
export function needProcesses(folder: string): NeededProcesses {
  const controller = new AbortController();
  return {
    lost: AbortSignal.any([controller.signal, interrupted()]),
    need: (name, program) => {
      void program.lost.then((how) => {
        const advice = `Progress is saved in ${folder}; run this command again.`;
        controller.abort(new Error(`The ${name} ${how}\nThe run cannot continue without it. ${advice}`));
      });
      return program;
    },
  };
}
