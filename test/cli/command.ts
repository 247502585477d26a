import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const MAIN = join(__dirname, '..', '..', 'lib', 'cli', 'main.js');

/** How a command ended. */
export interface Ended {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command line in a process of its own. */
export interface RunningCommand {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Waits until stderr, stdout or the terminal matches `words`; rejects if the command ends without a match. */
  hear(words: RegExp, output?: 'stdout'): Promise<RegExpExecArray>;
  /** Closes the pipe that reads stdout. */
  stopReading(): void;
  /** Types on the command's terminal. */
  type(text: string): void;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal, and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
}

type Output = 'stdout' | 'stderr';

export interface CommandSetting {
  readonly cwd: string;
  /** Content of stdin. @default empty */
  readonly input?: string;
  /** Added to the few variables that any command gets: no key or Temporal address of this machine is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs the command at a terminal: all output goes to `stdout`, and stdin stays open for typing. */
  readonly terminal?: boolean;
  /** The file that is run. @default the built command line */
  readonly program?: string;
  /** Files that take an output, which is then not in `Ended`. */
  readonly files?: Partial<Readonly<Record<Output, string>>>;
}

/** Returns the expectation that an output contains or matches these words. */
export function said(words: string | RegExp): string {
  return (
    typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words)
  ) as string;
}

/** Returns the expected exit code and stderr of a command. */
export function endedWith(code: number, words: string | RegExp): Partial<Ended> {
  return { code, stderr: said(words) };
}

/** Python program that runs a command at a terminal, whose keyboard is stdin. */
const AT_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

const PASSED_ON = [
  ...['PATH', 'HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME', 'CONDUCTOR_CACHE', 'TEMPORAL_CLI_PATH', 'TMPDIR'],
];

type Spawned = ChildProcessByStdio<Writable, Readable | null, Readable | null>;

/** Starts a program; each output goes to its file, if it has one. */
function spawnInto(
  files: NonNullable<CommandSetting['files']>,
  program: string,
  args: readonly string[],
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Spawned {
  const outputs = ([files.stdout, files.stderr] as const).map((path) =>
    path === undefined ? 'pipe' : openSync(path, 'w'),
  );
  const child = spawn(program, args, { ...place, stdio: ['pipe', ...outputs] });
  for (const output of outputs) if (output !== 'pipe') closeSync(output);
  return child as Spawned;
}

function listenTo(output: Readable | null, hear: (text: string) => void): void {
  output?.setEncoding('utf8').on('data', hear);
}

/** Starts `temporal-conductor` with these arguments. `npm test` builds it before the tests. */
export function startCommand(
  args: readonly string[],
  { cwd, input = '', env = {}, terminal = false, program: file = MAIN, files = {} }: CommandSetting,
): RunningCommand {
  const passedOn = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
  const command = [process.execPath, file, ...args];
  const [program = '', ...rest] = terminal ? ['python3', '-c', AT_TERMINAL, ...command] : command;
  const child = spawnInto(files, program, rest, { cwd, env: { ...passedOn, TERM: 'xterm', ...env } });
  let [stdout, stderr] = ['', ''];
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  listenTo(child.stdout, (text) => {
    stdout += text;
    tell();
  });
  listenTo(child.stderr, (text) => {
    stderr += text;
    tell();
  });
  // A command that refuses its arguments does not read its stdin to the end.
  child.stdin.on('error', () => undefined);
  if (!terminal) child.stdin.end(input);
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
  const hear: RunningCommand['hear'] = (words, output) =>
    new Promise((resolve, reject) => {
      const listen = (): void => {
        const found = words.exec(terminal || output === 'stdout' ? stdout : stderr);
        if (found) resolve(found);
      };
      listeners.add(listen);
      listen();
      void ended.then(() => {
        reject(new Error(`${args.join(' ')} ended without ${String(words)}:\n${stdout}${stderr}`));
      });
    });
  return {
    pid: child.pid ?? 0,
    ended,
    hear,
    stopReading: () => child.stdout?.destroy(),
    type: (text) => child.stdin.write(text),
    signal: (signal) => child.kill(signal),
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs a command to its end. */
export function runCommand(args: readonly string[], setting: CommandSetting): Promise<Ended> {
  return startCommand(args, setting).ended;
}
