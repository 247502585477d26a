import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { grade } from '../../../src/grading';
import { graderProblem } from '../../../src/grading/grade';
import { freshFolder } from '../../local/fresh-folder';
import { until } from '../../support/until';
import { describeInBubblewrap, IS_ROOT, isThere } from './bubblewrap-here';
import { fenced, judged, SUM, testHonest } from './fenced';

jest.setTimeout(120_000);

test('if bubblewrap does not work, the grader says what to do', async () => {
  const problem = await graderProblem([SUM]);
  if (isThere) {
    expect(problem).toBeNull();
    return;
  }
  expect(problem).toMatch(
    /^code cannot be judged: .*(Install|Allow unprivileged user namespaces|In a container).*SandboxFusion/,
  );
});

describeInBubblewrap('in bubblewrap', () => {
  testHonest('bubblewrap');

  test('/dev/stdin, numbers of 50,000 digits and a recursion of 40,000 calls work', async () => {
    const python = `
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
with open("/dev/stdin") as given:
    print(given.read().strip(), depth(40_000), len(str(10 ** 49_999)))`;
    const tests = [{ input: 'read', output: 'read 40000 50000' }];
    expect(await grade({ ...SUM, tests }, fenced(python))).toMatchObject({ verdict: 'correct' });
  });

  test.each([
    ['an endless loop', 'while True:\n    pass', 'it took more than 1 s of CPU time'],
    [
      'an endless loop that minds no signal',
      'import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True:\n    pass',
      'exit code 137',
    ],
    ['one that waits for ever', 'import time\ntime.sleep(1000)', 'it was not done after 10 s'],
    ['endless output', 'while True:\n    print("x" * 1000)', 'it printed more than'],
    ['endless errors', 'import sys\nwhile True:\n    sys.stderr.write("x" * 100_000)', 'bytes of errors'],
    ['10 GB', 'bytearray(10 << 30)', 'MemoryError'],
    ['a fork bomb', 'import os\nwhile True:\n    os.fork()', 'Resource temporarily unavailable'],
    [
      'a fork bomb that minds no failure',
      'import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass',
      'CPU time',
    ],
    [
      'an endless file',
      'with open("/tmp/x", "wb") as file:\n    while True:\n        file.write(bytes(1 << 20))',
      'it failed',
    ],
    [
      'the end of its parent',
      'import os\nos.kill(os.getppid(), 9)\nos.kill(1, 9)\nprint("none")',
      'printed none',
    ],
    ['the end of all', 'import os\nos.kill(-1, 9)\nprint("none")', 'No such process'],
  ])('%s is judged wrong, and leaves nothing behind', async (_, python, reason) => {
    const [wrong, bystander] = await Promise.all([
      grade({ ...SUM, seconds: 1, memoryMb: 256 }, fenced(python)),
      grade(SUM, fenced('print(sum(map(int, input().split())))')),
    ]);
    expect(wrong).toMatchObject(judged('wrong', reason));
    expect(bystander).toMatchObject({ verdict: 'correct' });
    await until(sandboxed, (left) => left.length === 0);
  });

  test('there is no network', async () => {
    let connections = 0;
    const server = createServer(() => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const { port } = server.address() as AddressInfo;
    const python = `
import socket
for host in ["127.0.0.1", "1.1.1.1", "localhost"]:
    try:
        socket.create_connection((host, ${port}), timeout=2)
        print("reached")
    except OSError:
        print("no")`;
    const tests = [{ input: '', output: 'no\nno\nno' }];
    expect(await grade({ ...SUM, tests }, fenced(python))).toMatchObject({ verdict: 'correct' });
    expect(connections).toBe(0);
    server.close();
  });

  test('the files, processes, keys and rights of this machine are out of reach', async () => {
    const folder = await freshFolder();
    await writeFile(join(folder, 'secret'), 'open to all', { mode: 0o644 });
    process.env.SOME_API_KEY = 'a key of the worker';
    const python = `
import glob, os
def attempt(what):
    try:
        return what()
    except OSError:
        return "no"
print(attempt(lambda: open("${folder}/secret").read()))
print(attempt(lambda: open("/etc/passwd").read()), attempt(lambda: os.listdir("/root")))
print([name for name in os.environ if "KEY" in name], "key" in open("/proc/1/environ").read())
print(sorted(int(pid.split("/")[2]) for pid in glob.glob("/proc/[0-9]*"))[:2])
print(os.getuid(), os.getgid(), attempt(lambda: os.setuid(0) or "root"), attempt(lambda: os.chroot("/tmp") or "moved"))
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")])
print(len(os.listdir("/proc/self/fd")))`;
    const output = [
      'no',
      'no no',
      '[] False',
      '[1, 2]',
      '65534 65534 no no',
      "['0000000000000000']",
      // Its three standard streams, and the folder that it lists.
      '4',
    ].join('\n');
    const found = await grade({ ...SUM, tests: [{ input: '', output }] }, fenced(python));
    delete process.env.SOME_API_KEY;
    expect(found).toMatchObject(judged('correct', 'it passes 1 of 1 tests'));
  });

  const FORGED = String.raw`{"verdict": "correct", "exit-code": 0, "status": "Finished"}\n`;

  test.each([
    ['on standard output', `print('${FORGED}')`],
    [
      'on standard error, as bubblewrap',
      'import os\nos.write(2, b"bwrap: No permissions to create new namespace")\nos._exit(1)',
    ],
    ['by its exit code', 'import os\nos._exit(0)'],
    ['by the exit code of its parent', 'import os, signal\nos.kill(os.getpid(), signal.SIGTERM)'],
    [
      'on every descriptor',
      `import os
for descriptor in range(300):
    try:
        os.write(descriptor, b'${FORGED}')
    except OSError:
        pass`,
    ],
    [
      'by leave of the one that runs it',
      `import builtins, json, os, sys
json.dumps = lambda *args, **more: "3"
builtins.compile = exec = lambda *args: None
for frame in list(sys._current_frames().values()):
    while frame:
        frame.f_globals.update(__name__="correct")
        frame = frame.f_back`,
    ],
  ])('a verdict that a program forges %s does not count', async (_, python) => {
    expect(await grade(SUM, fenced(python))).toMatchObject({ verdict: 'wrong' });
    const call = { ...SUM, function: 'solve', tests: [{ input: '1', output: '"right"' }] };
    const forging = `${python}\ndef solve(n):\n    return {"verdict": "correct"}`;
    expect(await grade(call, fenced(forging))).toMatchObject({ verdict: 'wrong' });
  });

  test('a program cannot find the right output anywhere', async () => {
    const right = `right-${process.pid}-${Date.now()}`;
    const python = `
import gc, os, sys
seen = [repr(each) for each in gc.get_objects()] + sys.argv + list(os.environ.values())
for folder, _, files in os.walk("/judge"):
    seen += [open(os.path.join(folder, name)).read() for name in files]
for line in open("/proc/self/maps"):
    parts = line.split()
    if "r" in parts[1] and "[vv" not in line:
        start, end = (int(part, 16) for part in parts[0].split("-"))
        try:
            with open("/proc/self/mem", "rb", 0) as memory:
                memory.seek(start)
                seen.append(memory.read(min(end - start, 1 << 24)).decode("latin1"))
        except OSError:
            pass
word = "-".join(["right", "${process.pid}", ""])
print(len(seen) > 100, any(word + str(digit) in each for each in seen for digit in range(10)))`;
    const tests = [{ input: '', output: right }];
    expect(await grade({ ...SUM, tests }, fenced(python))).toMatchObject(judged('wrong', 'True False'));
  });

  test('fifty concurrent programs each get their time', async () => {
    // On two processors, all of them together take more wall-clock time than each may take CPU time.
    const python = `
import time
while time.process_time() < 0.4:
    pass
print(sum(map(int, input().split())))`;
    const question = { ...SUM, tests: SUM.tests.slice(0, 1), seconds: 2 };
    const grades = await Promise.all(Array.from({ length: 50 }, () => grade(question, fenced(python))));
    expect(grades.filter(({ verdict }) => verdict !== 'correct')).toEqual([]);
  });

  test('if the worker is killed, its programs end', async () => {
    const script = `
      const { grade } = require(${JSON.stringify(join(__dirname, '../../../src/grading/grade.ts'))});
      void grade(${JSON.stringify(SUM)}, ${JSON.stringify(fenced('import time\ntime.sleep(1000)'))});
      console.log('begun');`;
    const root = join(__dirname, '../../..');
    const worker = spawn(process.execPath, ['--require', './scripts/run-typescript.cjs', '-e', script], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: worker.stdout })) if (line === 'begun') break;
    const [program = ''] = await until(sandboxed, (programs) => programs.length > 0);
    // User id outside the sandbox: a worker that runs as root has given up its rights.
    const uid = IS_ROOT ? 65_534 : process.getuid?.();
    expect(readFileSync(`/proc/${program}/status`, 'utf8')).toMatch(new RegExp(`^Uid:\\s+${uid}\\s`, 'm'));
    worker.kill('SIGKILL');
    await until(sandboxed, (programs) => programs.length === 0);
  });
});

/** Returns the ids of processes that run a program in the sandbox. */
function sandboxed(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandOf(pid).includes('/judge/main.py'));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
