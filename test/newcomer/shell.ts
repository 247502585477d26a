import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from './blocks';

export interface Outcome {
  /** Null while it runs, as it should. */
  readonly exitCode: number | null;
  readonly printed: string;
}

/** Timeout of a command: enough for an installation on a busy machine. */
const COMMAND_MS = 10 * 60_000;
/** Timeout for what a command that stays running has to print, and for its end. */
const STAYING_MS = 3 * 60_000;

/** One terminal: exported variables and the current folder carry over to the next command. */
export class Shell {
  private readonly bash: ChildProcess;
  private readonly ended: Promise<unknown>;
  private written = '';
  private readonly beside: { readonly line: string; readonly log: string; readonly pid: string }[] = [];

  constructor(
    private readonly folder: string,
    env: NodeJS.ProcessEnv,
  ) {
    // Gets its own process group, so that everything left running can be ended at once.
    this.bash = spawn('bash', { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
    this.ended = once(this.bash, 'exit');
    this.bash.stdout?.setEncoding('utf8').on('data', (text: string) => (this.written += text));
  }

  /** Runs a command to its end, or, if it stays running, until it has printed what it should. */
  async run({ line, stays }: Command, isDone: (printed: string) => boolean): Promise<Outcome> {
    if (!stays) {
      const { printed, status } = await this.execute(`{ ${line}\n} < /dev/null 2>&1`);
      return { printed, exitCode: status };
    }
    const log = join(this.folder, `.${randomUUID()}.log`);
    const { printed: pid } = await this.execute(`{ ${line}\n} < /dev/null > '${log}' 2>&1 & echo $!`);
    this.beside.push({ line, log, pid: pid.trim() });
    const read = (): Promise<string> => readFile(log, 'utf8');
    await waitUntil(async () => isDone(await read()), STAYING_MS);
    return { printed: await read(), exitCode: null };
  }

  /** Ends everything, and returns the commands that should still have been running, with their output. */
  async close(): Promise<string[]> {
    const lost: string[] = [];
    for (const { line, log, pid } of this.beside) {
      if ((await this.execute(`kill -0 ${pid}`)).status !== 0) {
        lost.push(`${line}\nended by itself:\n${await readFile(log, 'utf8')}`);
      }
    }
    const group = -(this.bash.pid ?? 0);
    process.kill(group, 'SIGTERM');
    // A shell that reads commands ignores SIGTERM.
    this.bash.stdin?.end();
    await this.ended;
    if (await waitUntil(() => !isAlive(group), STAYING_MS)) return lost;
    process.kill(group, 'SIGKILL');
    return [...lost, 'Something went on for three minutes after SIGTERM, and was killed.'];
  }

  private async execute(command: string): Promise<{ readonly printed: string; readonly status: number }> {
    const mark = randomUUID();
    const start = this.written.length;
    this.bash.stdin?.write(`${command}\nprintf '%s %d\\n' ${mark} $?\n`);
    const answer = new RegExp(`${mark} (\\d+)\\n`);
    const look = (): RegExpExecArray | null => answer.exec(this.written.slice(start));
    await waitUntil(() => look() !== null || this.isGone, COMMAND_MS);
    const found = look();
    if (found === null) throw new Error(`It never came to its end: ${command}\n${this.written.slice(start)}`);
    return { printed: this.written.slice(start, start + found.index), status: Number(found[1]) };
  }

  private get isGone(): boolean {
    return this.bash.exitCode !== null;
  }
}

/** Polls a condition until it holds or the time is up; returns whether it holds. */
async function waitUntil(isTrue: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    if (await isTrue()) return true;
    await pause(100);
  }
  return isTrue();
}

function isAlive(group: number): boolean {
  try {
    process.kill(group, 0);
    return true;
  } catch {
    return false;
  }
}
