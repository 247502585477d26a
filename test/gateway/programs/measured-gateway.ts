/**
 * A gateway in a process of its own. For each line of its input it prints how long its event loop stood still at most
 * since the last, the most memory it ever had, and what a piece of work of known length takes just now. Times are those
 * of the process: a busy machine may leave it aside for as long as it likes.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import '../../durability/programs/gateway';

export interface Measured {
  readonly stopMs: number;
  readonly mostBytes: number;
  readonly workMs: number;
}

const stops = monitorEventLoopDelay({ resolution: 5 });
stops.enable();

/** Returns the processor time of this process, with all its threads. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function work(): number {
  const begun = usedMs();
  const parsed: unknown = JSON.parse(`[${'{"a":"b"},'.repeat(60_000)}1]`);
  JSON.stringify(parsed);
  return usedMs() - begun;
}

let before = usedMs();

createInterface({ input: process.stdin }).on('line', () => {
  const stopMs = Math.min(stops.max / 1e6, usedMs() - before);
  const mostBytes = process.resourceUsage().maxRSS * 1024;
  console.log(JSON.stringify({ stopMs, mostBytes, workMs: work() } satisfies Measured));
  setImmediate(() => {
    stops.reset();
    before = usedMs();
  });
});
