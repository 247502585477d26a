import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { type ProgramLimits, runCommand, type Sandbox, SandboxError } from './sandbox';
import { systemCallFilter } from './system-calls';

const MB = 1 << 20;
/** `nobody`, the user as which a root worker runs bubblewrap, since process limits do not apply to root. */
const NOBODY = 65_534;
/** Most threads, including the sandbox's own three processes. */
const MOST_THREADS = 32;

/**
 * Sandbox of bubblewrap namespaces: a program sees only Python and its libraries, and has no network, no capabilities
 * and no place to write to. It is a single process, so the kernel's per-process limits bound everything it uses.
 */
export const bubblewrap: Sandbox = {
  name: 'bubblewrap',
  places: availableParallelism(),
  run: async ({ python, stdin }, limits) => {
    const filter = systemCallFilter();
    if (filter === null) {
      throw new SandboxError(
        `bubblewrap's memory limits work only on x86-64 and aarch64, and this is ${process.arch}`,
      );
    }
    const args = [...isolation(), '--', ...limitedPython(limits, '/judge/main.py', '/judge/stdin')];
    const user = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    return runCommand(
      { file: 'bwrap', args, texts: [python, stdin, filter], reports: true, ...user },
      limits,
    );
  },
  remedyFor: (words) => {
    if (process.platform !== 'linux') return `bubblewrap is for Linux: ${OTHERWISE}`;
    const remedy = REMEDIES.find(([pattern]) => pattern.test(words))?.[1] ?? 'Fix this';
    return `${remedy}; or ${OTHERWISE}`;
  },
};

const OTHERWISE =
  'run SandboxFusion (https://github.com/bytedance/SandboxFusion) elsewhere and name its URL in CONDUCTOR_SANDBOX';

/** Remedies by bubblewrap's message; the first match wins. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/ENOENT|Unknown option/, 'Install bubblewrap 0.8 or newer: "apt-get install bubblewrap"'],
  [/proc/, 'In a container, let bubblewrap mount /proc: "--security-opt systempaths=unconfined" (Docker)'],
  [
    /namespace|uid map|Operation not permitted|Permission denied/,
    'Allow unprivileged user namespaces: in a container "--security-opt seccomp=unconfined --security-opt apparmor=unconfined" ' +
      '(Docker), on Ubuntu 24.04 or newer "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"',
  ],
  [/python3|prlimit/, 'Install Python 3 and prlimit in /usr: "apt-get install python3 util-linux"'],
];

/** Arguments for new namespaces, without network, further user namespaces or capabilities. */
export const CONFINED: readonly string[] = [
  ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--hostname', 'sandbox'],
];

/** Returns bubblewrap's arguments. Order matters: a folder is filled before it is made read-only. */
function isolation(): readonly string[] {
  const [seen] = seenAmong([process.cwd()]);
  if (seen !== undefined) {
    throw new SandboxError(
      `programs would see ${seen}, the current folder: start the worker in another folder`,
    );
  }
  return [
    ...CONFINED,
    ...['--uid', String(NOBODY), '--gid', String(NOBODY), '--clearenv'],
    ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    ...shownFolders().flatMap((path) => ['--ro-bind', path, path]),
    ...(existsSync(MASKED) ? ['--tmpfs', MASKED, '--remount-ro', MASKED] : []),
    ...['bin', 'lib', 'lib64'].flatMap((name) =>
      existsSync(`/usr/${name}`) ? ['--symlink', `usr/${name}`, `/${name}`] : [],
    ),
    ...['--dev', '/dev', '--remount-ro', '/dev', '--proc', '/proc', '--dir', '/tmp', '--chdir', '/tmp'],
    ...['--perms', '0444', '--file', '4', '/judge/main.py', '--perms', '0444', '--file', '5', '/judge/stdin'],
    ...['--remount-ro', '/', '--seccomp', '6', '--json-status-fd', '3'],
  ];
}

const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  HOME: '/tmp',
  // Libraries that compute on all processors take memory for each.
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
};

/** Folders of Python and its libraries, as names or the beginnings of names. */
const SHOWN: readonly (readonly [folder: string, names: RegExp])[] = [
  ['/usr', /^(?:bin|lib|lib64)$/],
  ['/usr/local', /^bin$/],
  ['/usr/local/lib', /^(?:lib)?python3/],
];

/** Hidden folder below the shown ones: npm installs applications for all users there. */
const MASKED = '/usr/lib/node_modules';

/** Lists the folders programs see: never all of `/usr`, where images keep applications with keys and questions. */
export function shownFolders(): readonly string[] {
  return SHOWN.flatMap(([folder, names]) => {
    const found = existsSync(folder) ? readdirSync(folder) : [];
    return found.filter((name) => names.test(name)).map((name) => join(folder, name));
  });
}

/** Filters paths of files and folders by whether programs would see them. */
export function seenAmong(paths: readonly string[]): readonly string[] {
  const shown = shownFolders().map(real);
  return paths.filter((path) => {
    const place = real(resolve(path));
    const isBelow = (folder: string): boolean => !/^\.\.(?:\/|$)/.test(relative(folder, place));
    return shown.some(isBelow) && !(existsSync(MASKED) && isBelow(real(MASKED)));
  });
}

/** Resolves links in a path, even if it does not exist yet. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(real(folder), relative(folder, path));
  }
}

/** Returns the command that runs Python within limits. Standard input is a file, so that programs can reopen it. */
function limitedPython(limits: ProgramLimits, main: string, stdin: string): readonly string[] {
  const { seconds, memoryMb } = limits;
  const limit = [
    `--cpu=${seconds}:${seconds + 1}`,
    `--as=${memoryMb * MB}`,
    `--nproc=${MOST_THREADS}`,
    `--fsize=${64 * MB}`,
    // Enough for 50,000 nested calls.
    `--stack=${64 * MB}`,
    // Pipes and socket pairs have buffers that do not count as address space.
    '--nofile=64',
    '--sigpending=64',
    '--core=0',
  ];
  // If memory runs out, the kernel kills it before anything else on this machine.
  const script = `echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@" <${stdin}`;
  return ['/bin/sh', '-c', script, 'sh', 'prlimit', ...limit, 'python3', '-I', '-B', main];
}

/** No sandbox: a program may do whatever this process may. Only time, memory and processes are limited. */
export const unsafe: Sandbox = {
  name: 'no-sandbox',
  places: availableParallelism(),
  run: async ({ python, stdin }, limits) => {
    if (process.getuid?.() === 0) throw new SandboxError('code without a sandbox is never run as root');
    const folder = await mkdtemp(join(tmpdir(), 'conductor-code-'));
    try {
      await writeFile(join(folder, 'main.py'), python);
      await writeFile(join(folder, 'stdin'), stdin);
      const [file = '', ...args] = limitedPython(limits, 'main.py', 'stdin');
      return await runCommand({ file, args, cwd: folder, texts: [], reports: false }, limits);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  remedyFor: () => 'Unset CONDUCTOR_SANDBOX, and install bubblewrap',
};
