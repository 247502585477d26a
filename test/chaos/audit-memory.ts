import type { Evidence, Finding } from './evidence';

/** What may stay of a worker's memory, for what is loaded late and for what the allocator keeps. */
const HEADROOM_BYTES = 64 * 1024 * 1024;

/** The memory of a worker that outlived all others is back at its level when it has nothing to do. */
export function auditMemory({ memory: { before, after } }: Evidence): Finding[] {
  const law = 'memory returns to its level';
  return (['rss', 'heapUsed'] as const)
    .filter((kind) => after[kind] > before[kind] + HEADROOM_BYTES)
    .map((kind) => ({
      law,
      difference: `${kind} was ${megabytes(before[kind])}, and is ${megabytes(after[kind])}`,
      run: null,
    }));
}

/** A number of bytes, for people. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
