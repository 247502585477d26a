import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A TypeScript program of the tests in a process of its own, told and heard by lines. */
export interface ChildProgram {
  readonly pid: number;
  /** The next line of its stdout. Rejects, with what it wrote to stderr, when it ends instead. */
  nextLine(): Promise<string>;
  /** The same, as JSON. */
  nextMessage(): Promise<unknown>;
  tell(line: string): void;
  /** Ends it as `kill -9` does, and waits until it is gone. */
  kill(): Promise<void>;
  /** Its exit code, once it has ended. */
  ended(): Promise<number | null>;
}

/** Runs `file` under Node; `env` is all of its environment. */
export function runChild(file: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProgram {
  const child = spawn(process.execPath, ['--require', join(__dirname, 'run-typescript.cjs'), file, ...args], {
    env,
  });
  const gone = once(child, 'close');
  const complaints: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const line: IteratorResult<string, unknown> = await lines.next();
    if (line.done) throw new Error(`${file} ended:\n${complaints.join('')}`);
    return line.value;
  };
  return {
    pid: pidOf(child),
    nextLine,
    nextMessage: async () => JSON.parse(await nextLine()) as unknown,
    tell: (line) => child.stdin.write(`${line}\n`),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async ended() {
      await gone;
      return child.exitCode;
    },
  };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('The child process could not be started.');
  return child.pid;
}
