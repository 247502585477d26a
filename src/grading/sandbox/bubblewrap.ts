import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { runCommand } from './run-command';
import type { Program, ProgramLimits, ProgramRun, Sandbox } from './sandbox';

const MB = 1 << 20;
/** `nobody`: what a worker that is root runs bubblewrap as, since to root no limit of processes applies. */
const NOBODY = 65_534;
/** With the sandbox's own three. */
const MOST_PROCESSES = 32;
const MOST_WRITTEN = 64 * MB;

/**
 * Namespaces of bubblewrap, in which a program sees `/usr` and a small `/tmp`, no network and no process but its own, and
 * has no rights; limits of prlimit.
 */
export class BubblewrapSandbox implements Sandbox {
  readonly name = 'bubblewrap';
  readonly places = availableParallelism();

  run({ python, stdin }: Program, limits: ProgramLimits): Promise<ProgramRun> {
    return runCommand(
      {
        file: 'bwrap',
        args: [...ISOLATION, '--', ...limitedPython(limits, '/judge/main.py', '/judge/stdin')],
        texts: [python, stdin],
        reports: true,
        ...(process.getuid?.() === 0 && { uid: NOBODY }),
      },
      limits,
    );
  }
}

/** The order counts: what is made read-only is complete by then. */
const ISOLATION: readonly string[] = [
  ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--uid', String(NOBODY), '--gid', String(NOBODY), '--hostname', 'sandbox'],
  ...['--clearenv', '--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--setenv', 'LANG', 'C.UTF-8'],
  // A library that computes on all processors takes memory for each.
  ...[
    '--setenv',
    'HOME',
    '/tmp',
    '--setenv',
    'OMP_NUM_THREADS',
    '1',
    '--setenv',
    'OPENBLAS_NUM_THREADS',
    '1',
  ],
  ...['--ro-bind', '/usr', '/usr'],
  ...['bin', 'lib', 'lib64'].flatMap((name) =>
    existsSync(`/usr/${name}`) ? ['--symlink', `usr/${name}`, `/${name}`] : [],
  ),
  ...['--dev', '/dev', '--remount-ro', '/dev', '--proc', '/proc'],
  ...['--size', String(MOST_WRITTEN), '--tmpfs', '/tmp', '--chdir', '/tmp'],
  ...['--perms', '0444', '--file', '4', '/judge/main.py', '--perms', '0444', '--file', '5', '/judge/stdin'],
  ...['--remount-ro', '/', '--json-status-fd', '3'],
];

/**
 * The command that runs a program in Python within limits that each of its processes has. Standard input is a file, so
 * that a program may open it by its name, too.
 */
export function limitedPython(limits: ProgramLimits, main: string, stdin: string): readonly string[] {
  const { seconds, memoryMb } = limits;
  const limit = [
    `--cpu=${seconds}:${seconds + 1}`,
    `--as=${memoryMb * MB}`,
    `--nproc=${MOST_PROCESSES}`,
    `--fsize=${MOST_WRITTEN}`,
    // Of a recursion of 50,000 calls.
    `--stack=${64 * MB}`,
    '--nofile=256',
    '--core=0',
  ];
  // Where memory runs out, it is ended before anything else on this machine.
  const script = `echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@" <${stdin}`;
  return ['/bin/sh', '-c', script, 'sh', 'prlimit', ...limit, 'python3', '-I', '-B', main];
}
