import { execFile } from 'node:child_process';
import { reasonOf } from './reason-of';

/** How a helper program is run: its environment, its folder, and what may end it early. */
export interface ProgramSetting {
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Runs a program without a shell and returns what it printed; an error carries the last line it wrote to stderr. */
export function runProgram(
  program: string,
  args: readonly string[],
  { env, timeoutMs, signal }: ProgramSetting = {},
): Promise<string> {
  const options = { env: env ?? process.env, timeout: timeoutMs ?? 0, ...(signal && { signal }) };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) {
        resolve(stdout);
        return;
      }
      const reason = error.killed ? `${program} did not end in time` : lastLine(stderr) || reasonOf(error);
      reject(new Error(reason, { cause: error }));
    });
  });
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
