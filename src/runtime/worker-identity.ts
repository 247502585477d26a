import { hash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

// Other processes of a machine see by a worker's identity whether it has ended. A process id alone does not tell that:
// it names another process in another PID namespace, e.g. of a container, and after its process has ended.

/** Returns the identity of this process's workers: `<pid>@<host>`, then a mark of its PID namespace and its start. */
export function workerIdentity(): string {
  const name = `${process.pid}@${hostname()}`;
  try {
    return `${name}#${placeOfPids()}.${processStart('self')}`;
  } catch {
    // Systems without /proc, and a /proc of another PID namespace: no process can tell whether this one has ended.
    return name;
  }
}

/** Returns whether an identity is that of a process which has ended; false if this process cannot know. */
export function hasEnded(identity: string): boolean {
  const [, pid = '', place, start] = /^(\d+)@.*#([0-9a-f]{12})\.(\d+)$/.exec(identity) ?? [];
  try {
    if (place === undefined || place !== placeOfPids()) return false;
    process.kill(Number(pid), 0);
    return processStart(pid) !== start;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Returns a digest of where process ids mean the same as here. @throws Error if /proc does not show this process */
function placeOfPids(): string {
  if (readlinkSync('/proc/self') !== String(process.pid)) throw new Error('/proc has other process ids');
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
  const place = [hostname(), boot, readlinkSync('/proc/self/ns/pid')];
  return hash('sha256', JSON.stringify(place)).slice(0, 12);
}

/** Returns when a process started, in ticks since the machine did. The name before it may have spaces and brackets. */
function processStart(pid: string): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? '';
}
