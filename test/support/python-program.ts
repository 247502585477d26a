import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const ROOT = resolve(__dirname, '../..');

/** A part of the trainer in a process of its own, told and heard by lines of JSON. */
export interface PythonProgram {
  readonly pid: number;
  /** What it says in its first line, once it is ready. */
  readonly ready: unknown;
  /** The next line of its stdout. Rejects, with what it wrote to stderr, when it ends instead. */
  nextMessage(): Promise<unknown>;
  tell(message: object): void;
  /** Ends it as `kill -9` does, and waits until it is gone. What it had started is ended too. */
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void>;
}

/** Runs `python -m conductor_trainer.<module>` and waits for its first line. */
export async function runPython(
  module: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<PythonProgram> {
  const child = spawn(await trainerPython(), ['-m', `conductor_trainer.${module}`, ...args], {
    env: {
      ...process.env,
      PYTHONPATH: resolve(ROOT, 'trainer/src'),
      OMP_NUM_THREADS: '1',
      HF_HUB_OFFLINE: '1',
      ...env,
    },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`conductor_trainer.${module} could not be started.`);
  const gone = once(child, 'exit');
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextMessage = async (): Promise<unknown> => {
    const line: IteratorResult<string, unknown> = await lines.next();
    if (line.done) throw new Error(`conductor_trainer.${module} ended:\n${complaints.join('')}`);
    return JSON.parse(line.value) as unknown;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await gone;
  };
  return {
    pid,
    ready: await nextMessage(),
    nextMessage,
    tell: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

let python: Promise<string> | undefined;

/** The Python of the trainer's environment, which is made where there is none yet. */
export function trainerPython(): Promise<string> {
  python ??= promisify(execFile)(process.execPath, [resolve(ROOT, 'scripts/prepare-trainer.mjs')]).then(
    ({ stdout }) => stdout.trim(),
  );
  return python;
}
