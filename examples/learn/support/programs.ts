import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

// Programs of this repository, each in a process of its own, with which one speaks by lines.

const ROOT = resolve(__dirname, '../../..');
const COMPILER = join(ROOT, 'scripts/run-typescript.cjs');
const PREPARE = join(ROOT, 'scripts/prepare-trainer.mjs');

export interface ChildProgram {
  readonly pid: number;
  /** The next line of its stdout. Rejects, with what it wrote to stderr, when it ends instead. */
  nextLine(): Promise<string>;
  /** The same, as JSON. */
  nextMessage(): Promise<unknown>;
  tell(line: string): void;
  /** Ends it as `kill -9` does, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void>;
  /** Its exit code, once it has ended; null where a signal ended it. */
  ended(): Promise<number | null>;
}

/** A part of the trainer. */
export interface PythonProgram extends ChildProgram {
  /** Its first line, which it writes when it is ready. */
  readonly ready: unknown;
}

/** Runs a TypeScript file under Node; `env` is all of its environment. */
export function runChild(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProgram {
  return run(process.execPath, ['--require', COMPILER, file, ...args], env);
}

/** Runs `python -m conductor_trainer.<module>` and waits for its first line. */
export async function runPython(
  module: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<PythonProgram> {
  const program = run(await trainerPython(), ['-m', `conductor_trainer.${module}`, ...args], {
    ...trainerEnv(),
    ...env,
  });
  return { ...program, ready: await program.nextMessage() };
}

/** The environment in which Python finds the trainer's sources, and computes on one core. */
export function trainerEnv(): NodeJS.ProcessEnv {
  const PYTHONPATH = join(ROOT, 'trainer/src');
  return { ...process.env, PYTHONPATH, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1' };
}

let python: Promise<string> | undefined;

/** The Python of the trainer's environment, which is made where there is none yet. */
export function trainerPython(): Promise<string> {
  python ??= promisify(execFile)(process.execPath, [PREPARE]).then(({ stdout }) => stdout.trim());
  return python;
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProgram {
  const name = args.join(' ');
  const child = spawn(command, args, { env });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started.`);
  // Not its `close`: what it had started may hold its pipes open for longer.
  const gone = once(child, 'exit');
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const line: IteratorResult<string, unknown> = await lines.next();
    if (line.done) throw new Error(`${name} ended:\n${complaints.join('')}`);
    return line.value;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  return {
    pid,
    nextLine,
    nextMessage: async () => JSON.parse(await nextLine()) as unknown,
    tell: (line) => child.stdin.write(`${line}\n`),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    ended: async () => {
      await gone;
      return child.exitCode;
    },
  };
}
