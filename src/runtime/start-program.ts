import {
  type ChildProcess,
  execFile,
  type ExecFileException,
  type ExecFileOptions,
  spawn,
  type SpawnOptions,
} from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, extname, isAbsolute, join, parse } from 'node:path';
import { promisify } from 'node:util';
import { reasonOf } from '../errors';

/** Absolute path, or a name on PATH. Python runs isolated from modules in the current folder and PYTHONPATH. */
export type Program = string | { readonly python: string };

export const PYTHON = process.platform === 'win32' ? 'python' : 'python3';

interface Surroundings {
  /** Absolute path. @default the root folder, where other users cannot put a module or a library */
  readonly cwd?: string | undefined;
  /** Environment for looking up the program and for its variables. @default this process's own */
  readonly env?: NodeJS.ProcessEnv;
  /** Variables that it gets besides `PLAIN`. `all` is for the user's own programs, which may see every key. */
  readonly passes?: RegExp | 'all';
}

type Start = Surroundings & Pick<SpawnOptions, 'detached' | 'gid' | 'shell' | 'stdio' | 'uid'>;

/**
 * Starts a program. All programs are started in this file, so that nothing in the current folder runs by mistake and
 * each program gets only the keys it needs. With `shell`, `program` is a command line for the user's shell.
 * @throws Error with the code ENOENT if no folder of PATH contains it
 */
export function startProgram(program: Program, args: readonly string[], start: Start = {}): ChildProcess {
  const { detached, gid, shell, stdio, uid } = start;
  const [file, options] = commandLine(program, args, start);
  return spawn(file, options, { detached, gid, shell, stdio, uid, ...surroundings(start) });
}

/** Runs a program to its end and returns its stdout; an error carries the last line of its stderr. */
export async function runProgram(
  program: Program,
  args: readonly string[],
  { timeout, signal, ...given }: Surroundings & Pick<ExecFileOptions, 'timeout' | 'signal'> = {},
): Promise<string> {
  const [file, options] = commandLine(program, args, given);
  const setting = { ...surroundings(given), signal, timeout };
  try {
    return (await promisify(execFile)(file, options, setting)).stdout;
  } catch (cause) {
    const { killed, stderr = '' } = cause as ExecFileException;
    const reason = stderr.trim().split('\n').at(-1) ?? '';
    const told = killed ? `${basename(file)} did not end in time` : reason || reasonOf(cause);
    throw new Error(told, { cause });
  }
}

/** Finds a program in the absolute folders of PATH. */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const file = process.platform === 'win32' && extname(name) === '' ? `${name}.exe` : name;
  const paths = foldersOf(env.PATH ?? env.Path).map((folder) => join(folder, file));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function commandLine(
  program: Program,
  args: readonly string[],
  { env, shell }: Pick<Start, 'env' | 'shell'>,
): [string, readonly string[]] {
  if (typeof program !== 'string') return [locate(program.python, env), ['-I', ...args]];
  return [shell ? program : locate(program, env), args];
}

function locate(program: string, env?: NodeJS.ProcessEnv): string {
  if (isAbsolute(program)) return program;
  const isName = program === basename(program);
  const path = isName ? findProgram(program, env) : null;
  if (path !== null) return path;
  const why = isName ? `no absolute folder of PATH holds ${program}` : `${program} is not an absolute path`;
  throw Object.assign(new Error(why), { code: 'ENOENT' });
}

function surroundings({ cwd = parse(process.execPath).root, env = process.env, passes }: Surroundings): {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
} {
  const passed = Object.entries(env).filter(
    ([name]) => !/^path$/i.test(name) && (PLAIN.test(name) || passes === 'all' || passes?.test(name)),
  );
  // An empty PATH would make the program look up its own children in the current folder.
  const folders = foldersOf(env.PATH ?? env.Path);
  const path = folders.length === 0 ? {} : { PATH: folders.join(delimiter) };
  return { cwd, env: { ...Object.fromEntries(passed), ...path, ...NO_CURRENT_FOLDER } };
}

/** Variables that every program gets: system folders, time zone and locale, on Unix and Windows. */
const PLAIN =
  /^(?:PATHEXT|COMSPEC|SYSTEMROOT|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|TMPDIR|TEMP|TMP|TZ|LANG|LC_[A-Z]+)$/i;

/** Makes Windows look up programs only in PATH. */
const NO_CURRENT_FOLDER = process.platform === 'win32' ? { NoDefaultCurrentDirectoryInExePath: '1' } : {};

/** Drops empty and relative entries of PATH: they mean the current folder, where anyone may have put programs. */
function foldersOf(path = ''): string[] {
  return path.split(delimiter).filter(isAbsolute);
}

/** Whether this process runs in our container image, which has no Temporal server, no Python and no local engine. */
export function isOurImage(): boolean {
  return process.env.CONDUCTOR_IMAGE !== undefined;
}
