import { readdirSync, readFileSync } from 'node:fs';

/** The process that works on a trainer's step: a child of the fork server, which is the trainer's child; null: none. */
export function stepOf(trainer: number): number | null {
  const [forkServer] = childrenOf(trainer);
  if (forkServer === undefined) return null;
  return childrenOf(forkServer)[0] ?? null;
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
