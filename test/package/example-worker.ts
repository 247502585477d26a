import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The worker of an example, in a process of its own. */
export interface ExampleWorker {
  /** Rejects, with what it wrote, if it ends before it was asked to. */
  readonly broken: Promise<never>;
  /** Asks it to stop, as a deploy does, and gives its exit code. */
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
  // Avoids an unhandled rejection until somebody waits for it.
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
