import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Worker of an example, in its own process. */
export interface ExampleWorker {
  /** Rejects with the worker's output when it ends. */
  readonly broken: Promise<never>;
  /** Sends SIGTERM, as a deploy does, and returns the exit code. */
  stop(): Promise<number | null>;
}

export function startExampleWorker(folder: string, env: NodeJS.ProcessEnv): ExampleWorker {
  const child = spawn(process.execPath, ['worker.js'], { cwd: folder, env });
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => written.push(text));
  }
  const gone = once(child, 'close');
  const broken = gone.then(() => {
    throw new Error(`the example's worker ended with ${child.exitCode}:\n${written.join('')}`);
  });
  // Avoids an unhandled rejection until a test awaits it.
  broken.catch(() => undefined);
  return {
    broken,
    stop: async () => {
      child.kill('SIGTERM');
      await gone;
      return child.exitCode;
    },
  };
}
