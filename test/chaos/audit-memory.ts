import type { Evidence, Finding } from './evidence';

/**
 * What may stay, in bytes, whatever the number of solves: for what is loaded late and, outside of the heap, for what the
 * allocator keeps for the next time. A leak of a tenth of a megabyte per solve shows in two hundred.
 */
const HEADROOM = { heapUsed: 20 * 1024 * 1024, rss: 128 * 1024 * 1024 } as const;

/** The memory of a worker that outlived all others is back at its level when it has nothing to do. */
export function auditMemory({ memory: { before, after } }: Evidence): Finding[] {
  return (['heapUsed', 'rss'] as const)
    .filter((kind) => after[kind] > before[kind] + HEADROOM[kind])
    .map((kind) => ({
      law: 'memory returns to its level',
      difference: `${kind} was ${megabytes(before[kind])}, and is ${megabytes(after[kind])}`,
      run: null,
    }));
}

/** A number of bytes, for people. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
