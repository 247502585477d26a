import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** The process of a trainer's next step: a child of the fork server, which is the trainer's child. */
export async function stepOf(trainer: number): Promise<number> {
  for (;;) {
    const [step] = childrenOf(trainer).flatMap(childrenOf);
    if (step !== undefined) return step;
    await setImmediate();
  }
}

/** Linux lists processes as folders of /proc. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in brackets, may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // It has ended since the folder was listed.
    return null;
  }
}
