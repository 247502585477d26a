import { readdirSync, readFileSync } from 'node:fs';

/** What a process and its descendants use. */
export interface TreeUse {
  /** Pages in memory that are no file's, those that they share counted for each. */
  readonly memoryMb: number;
  readonly cpuMs: number;
  /** For a processor, ready to run. */
  readonly waitedMs: number;
  /** Its threads, those of a process without others included. */
  readonly threads: number;
}

/** Of a tree that nothing keeps small. */
const MOST_PROCESSES = 200;

/** Reads from `/proc` what a process and all of its descendants use; null where it is no more. */
export function measureTree(root: number): TreeUse | null {
  const waiting = [root];
  const use = { memoryMb: 0, cpuMs: 0, waitedMs: 0, threads: 0 };
  let seen = 0;
  for (let pid = waiting.pop(); pid !== undefined && seen < MOST_PROCESSES; pid = waiting.pop()) {
    try {
      const stat = read(`/proc/${pid}/stat`);
      // proc_pid_stat(5): behind the name utime, stime, cutime and cstime are the 12th to 15th, in hundredths of a second.
      const times = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 15);
      use.cpuMs += 10 * times.reduce((sum, ticks) => sum + Number(ticks), 0);
      // Without files: libraries are in memory once for all.
      const sizes = read(`/proc/${pid}/status`).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB/gm);
      for (const [, kilobytes] of sizes) use.memoryMb += Number(kilobytes) / 1024;
      use.waitedMs += Number(read(`/proc/${pid}/schedstat`).split(' ')[1] ?? 0) / 1e6;
      const threads = readdirSync(`/proc/${pid}/task`);
      use.threads += threads.length;
      waiting.push(...threads.flatMap((thread) => childrenOf(pid, thread)));
      seen += 1;
    } catch {
      // It has ended meanwhile.
    }
  }
  return seen === 0 ? null : use;
}

function childrenOf(pid: number, thread: string): number[] {
  return read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number);
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}
