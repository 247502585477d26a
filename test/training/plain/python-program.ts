import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { trainerPython } from '../../support/python-program';

/** A program of the trainer's package in a process of its own, which speaks JSON lines. */
export interface PythonProgram {
  /** The next line of its stdout. Rejects when it ends instead; what it had to say is on stderr. */
  nextMessage(): Promise<unknown>;
  tell(message: object): void;
  /** Ends it and waits until it is gone. */
  close(): Promise<void>;
}

const SOURCES = join(__dirname, '../../../trainer/src');

/** Runs `python -m conductor_trainer.<name>` in the trainer's environment. */
export async function runPython(name: string, args: readonly string[] = []): Promise<PythonProgram> {
  const python = await trainerPython();
  const child: ChildProcessWithoutNullStreams = spawn(python, ['-m', `conductor_trainer.${name}`, ...args], {
    env: { ...process.env, PYTHONPATH: SOURCES, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1' },
  });
  child.stderr.pipe(process.stderr);
  const gone = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async nextMessage() {
      const line: IteratorResult<string, unknown> = await lines.next();
      if (line.done) throw new Error(`conductor_trainer.${name} ended; what it said is above.`);
      return JSON.parse(line.value) as unknown;
    },
    tell: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    async close() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}
