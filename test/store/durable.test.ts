import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freshFolder } from '../local/fresh-folder';

/** Whether strace works: it may be missing, or forbidden as in some containers. */
const CAN_TRACE = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

const NAME = 'nothing is said to be kept before the disk has all of it, and no event loop stops for that';

(CAN_TRACE ? test : test.skip)(NAME, async () => {
  const folder = await freshFolder();
  const log = join(folder, 'strace');
  const program = resolve(__dirname, 'programs/acknowledge.ts');
  const hook = resolve(__dirname, '../../scripts/run-typescript.cjs');
  const calls = 'trace=write,pwrite64,fsync,fdatasync';
  const traced = ['-f', '--seccomp-bpf', '-y', '-e', calls, '-o', log];
  const { stdout } = await promisify(execFile)('strace', [
    ...traced,
    process.execPath,
    ...['--require', hook, program, join(folder, 'store.db')],
  ]);
  const said = stdout.trim().split('\n');
  expect(said).toHaveLength(7);
  const found = readTrace(await readFile(log, 'utf8'));
  expect(found.syncs).toBeGreaterThanOrEqual(said.length);
  expect(found.syncsOfLoop).toBe(0);
  expect(found.unsynced).toEqual(said.map((what) => [what, []]));
});

/** Lists, for each printed line, the store's files with writes that were not flushed by then. */
function readTrace(log: string): {
  readonly unsynced: readonly [string, string[]][];
  /** Flushes until the last print; the printing thread is the event loop. */
  readonly syncs: number;
  readonly syncsOfLoop: number;
} {
  const dirty = new Set<string>();
  const unsynced: [string, string[]][] = [];
  const syncs: string[] = [];
  let last = { pid: '', syncs: 0 };
  for (const { pid, call, path, said } of callsIn(log)) {
    if (call === 'pwrite64' && /store\.db(?:-wal|-journal)?$/.test(path)) dirty.add(path);
    if (call.endsWith('sync')) {
      syncs.push(pid);
      dirty.delete(path);
    }
    if (said === undefined) continue;
    unsynced.push([said, [...dirty]]);
    last = { pid, syncs: syncs.length };
  }
  const ofLoop = syncs.slice(0, last.syncs).filter((pid) => pid === last.pid);
  return { unsynced, syncs: last.syncs, syncsOfLoop: ofLoop.length };
}

interface Call {
  readonly pid: string;
  readonly call: string;
  readonly path: string;
  readonly isOver: boolean;
  /** Text of a write to stdout. */
  readonly said: string | undefined;
}

/** Yields calls in the order in which they ended; strace may show a flush in two parts, around other threads' calls. */
function* callsIn(log: string): Generator<Call> {
  const begun = new Map<string, Call>();
  for (const line of log.split('\n')) {
    const resumed = /^(\d+) +<\.\.\. f(?:data)?sync resumed>.*= 0$/.exec(line)?.[1];
    const call = resumed === undefined ? readCall(line) : begun.get(resumed);
    if (call === undefined) continue;
    if (resumed === undefined && !call.isOver) begun.set(call.pid, call);
    else yield call;
  }
}

function readCall(line: string): Call | undefined {
  const found = /^(?<pid>\d+) +(?<call>\w+)\(\d+<(?<path>[^>]*)>/.exec(line)?.groups;
  if (found === undefined) return undefined;
  const { pid = '', call = '', path = '' } = found;
  const isOver = !call.endsWith('sync') || !line.endsWith('<unfinished ...>');
  return { pid, call, path, isOver, said: /^\d+ +write\(1<[^>]*>, "(.*?)\\n"/.exec(line)?.[1] };
}
