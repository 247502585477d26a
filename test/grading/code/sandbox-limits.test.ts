import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { grade, type Grade } from '../../../src/grading';
import { graderProblem } from '../../../src/grading/grade';
import { CONFINED, seenAmong, shownFolders } from '../../../src/grading/sandbox/bubblewrap';
import { systemCallFilter } from '../../../src/grading/sandbox/system-calls';
import { until } from '../../support/until';
import { describeInBubblewrap, IS_ROOT } from './bubblewrap-here';
import { fenced, judged } from './fenced';

function run(python: string, output: string, input = ''): Promise<Grade> {
  const question = { grader: 'code', memoryMb: 256, tests: [{ input, output }] } as const;
  return grade(question, fenced(python));
}

const LIBC = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def error(name, *arguments):
    ctypes.set_errno(0)
    return name if getattr(libc, name)(*arguments) >= 0 else os.strerror(ctypes.get_errno())
`;

describeInBubblewrap('in bubblewrap', () => {
  // More memory than the limit of 256 MB, in different places.
  test.each([
    [
      'a file in memory',
      `import os
held = []
for _ in range(5):
    held.append(os.memfd_create("x"))
    os.write(held[-1], bytes(64 << 20))
print("holds 320 MB")`,
    ],
    [
      'detached segments',
      `import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
for _ in range(5):
    segment = libc.shmget(0, 64 << 20, 0o1600)
    assert segment >= 0
    address = libc.shmat(segment, None, 0)
    ctypes.memset(address, 1, 64 << 20)
    libc.shmdt(ctypes.c_void_p(address))
print("holds 320 MB")`,
    ],
    [
      'many processes',
      `import os
for _ in range(4):
    if os.fork() == 0:
        mine = bytearray(os.urandom(1 << 20) * 100)
        os._exit(0)
print("holds 320 MB")`,
    ],
    ['one process', 'held = bytearray(320 << 20)\nprint("holds 320 MB")'],
  ])('a program cannot get more memory than the limit in %s', async (_, python) => {
    expect(await run(python, 'holds 320 MB')).toMatchObject({ verdict: 'wrong' });
  });

  test('a program is one process with its threads, and no system call holds memory for it', async () => {
    const python = `${LIBC}
CLONE_NEWUSER = 0x10000000
for name, *arguments in [
    ("memfd_create", b"x", 0), ("shmget", 0, 4096, 0o1600), ("msgget", 0, 0o1600), ("semget", 0, 9, 0o1600),
    ("vmsplice", 1, None, 0, 0), ("inotify_init", ), ("inotify_init1", 0), ("fanotify_init", 0, 0),
    ("socket", 1, 1, 0), ("setsockopt", 0, 1, 7, None, 0), ("unshare", CLONE_NEWUSER), ("setns", 0, 0),
    ("ptrace", 0, 0, 0, 0), ("setpriority", 0, 0, 19), ("sched_setaffinity", 0, 8, b"\\1" * 8),
    ("fcntl", 0, 6, b"\\0" * 64), ("fork", ), ("syscall", 463), ("syscall", 435, b"\\0" * 88, 88),
]:
    print(error(name, *arguments))
import socket, threading
socket.socketpair()
thread = threading.Thread(target=print, args=("a thread",))
thread.start()
thread.join()`;
    const output = [
      ...Array<string>(16).fill('Operation not permitted'),
      'Resource temporarily unavailable',
      ...Array<string>(2).fill('Function not implemented'),
      'a thread',
    ].join('\n');
    expect(await run(python, output)).toMatchObject({ verdict: 'correct' });
  });

  test('no user namespace can be created in it, whatever system calls are denied', () => {
    const args = [...CONFINED, '--ro-bind', '/', '/', '/usr/bin/unshare', '--user', 'true'];
    const { status, stderr } = spawnSync('bwrap', args, { cwd: '/', encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('unshare failed') as string,
    });
  });

  test('nothing can be written, and only Python is visible of this machine', async () => {
    const python = `
import os
for path in ["/x", "/tmp/x", "/usr/lib/x", "/dev/x", "/dev/shm/x", "/judge/main.py", "x"]:
    try:
        print(open(path, "w"))
    except OSError as error:
        print("no")
print(sorted(os.listdir("/")), sorted(set(os.listdir("/usr")) - {"lib64"}))`;
    const lib64 = existsSync('/usr/lib64') ? ['lib64'] : [];
    const root = ['bin', 'dev', 'judge', 'lib', ...lib64, 'proc', 'tmp', 'usr'];
    const shown = new Set(shownFolders().map((path) => path.split('/')[2] ?? ''));
    shown.delete('lib64');
    const listOf = (names: readonly string[]): string => `['${names.toSorted().join("', '")}']`;
    const output = [...Array<string>(7).fill('no'), `${listOf(root)} ${listOf([...shown])}`].join('\n');
    expect(await run(python, output)).toMatchObject({ verdict: 'correct' });
  });

  test('no program runs if it would see the current folder', async () => {
    const folder = process.cwd();
    process.chdir('/usr/lib');
    try {
      const reason = 'programs would see /usr/lib, the current folder';
      expect(await run('print(1)', '1')).toMatchObject(judged('ungraded', reason));
    } finally {
      process.chdir(folder);
    }
  });

  test('no program runs if it would see the right answers', async () => {
    const question = { grader: 'code', tests: [] } as const;
    const problem = await graderProblem([question], ['questions.jsonl', '/usr/lib/app/questions.jsonl']);
    expect(problem).toContain('programs would see /usr/lib/app/questions.jsonl');
    expect(await graderProblem([question], ['questions.jsonl'])).toBeNull();
  });

  const memory = IS_ROOT ? memoryGroups() : null;

  (memory === null ? test.skip : test)(
    'a program that the kernel ends for want of memory is not judged',
    async () => {
      const name = randomUUID();
      const group = join(memory?.folder ?? '', name);
      mkdirSync(group);
      writeFileSync(join(group, memory?.limit ?? ''), String(64 << 20));
      try {
        // The program waits until it is in the group, however late it is found.
        const python = `
import time
while "${name}" not in open("/proc/self/cgroup").read():
    time.sleep(0.01)
held = b"x" * (128 << 20)
print(1)`;
        const judging = run(python, '1', name);
        const [pid = ''] = await until(
          () => programsWith(name),
          (programs) => programs.length > 0,
        );
        writeFileSync(join(group, 'cgroup.procs'), pid);
        expect(await judging).toMatchObject(judged('ungraded', 'memory ran out on this machine'));
      } finally {
        await until(
          () => programsWith(name),
          (programs) => programs.length === 0,
        );
        rmdirSync(group);
      }
    },
  );
});

/** Returns the folder in which cgroups with a memory limit can be created, or null if none can. */
function memoryGroups(): { readonly folder: string; readonly limit: string } | null {
  const root = '/sys/fs/cgroup';
  const own = /^\d+:memory:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  if (own !== undefined) return { folder: join(root, 'memory', own), limit: 'memory.limit_in_bytes' };
  const control = join(root, 'cgroup.subtree_control');
  const isDelegated = existsSync(control) && readFileSync(control, 'utf8').includes('memory');
  return isDelegated ? { folder: root, limit: 'memory.max' } : null;
}

/** Returns the ids of running programs with this input; tests of another file may run others at the same time. */
async function programsWith(word: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    const isOurs = await readFile(`/proc/${pid}/cmdline`, 'utf8').then(
      (line) => line.startsWith('python3\0-I\0-B\0/judge/main.py'),
      () => false,
    );
    const input = isOurs ? await readFile(`/proc/${pid}/root/judge/stdin`, 'utf8').catch(() => '') : '';
    if (input === word) found.push(pid);
  }
  return found;
}

test('paths that programs would see are recognized, however they are written', () => {
  const seen = ['/usr/lib/app/questions.jsonl', '/usr/bin/../lib/store', '/usr/lib'];
  const unseen = ['/srv/q.jsonl', '/usr/src/app/.env', '/usr/local/share', '/usr', '/usr/library', '.'];
  expect(seenAmong([...unseen, ...seen])).toEqual(seen);
});

test('known processors have a system call filter, and others have none', () => {
  const [x64, arm64] = ['x64', 'arm64'].map(systemCallFilter);
  expect(x64?.equals(arm64 ?? Buffer.alloc(0))).toBe(false);
  expect(systemCallFilter('riscv64')).toBeNull();
});
