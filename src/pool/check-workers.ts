import type { z } from 'zod';

/** The part of a worker that says how it stands to the others. */
interface Member {
  readonly id: string;
  readonly fallback: readonly string[];
}

/** In traces the Conductor's own calls carry this id. */
const RESERVED_ID = 'conductor';

/** Checks what no worker can be judged by alone: that ids differ, and that every fallback is another worker. */
export function checkWorkers(workers: readonly Member[], context: z.RefinementCtx): void {
  const indexById = new Map<string, number>();
  workers.forEach(({ id }, index) => {
    const earlier = indexById.get(id);
    if (id === RESERVED_ID) report(index, ['id'], 'this id is reserved for the Conductor; choose another');
    if (earlier !== undefined)
      report(index, ['id'], `workers[${earlier}] has this id already; choose another`);
    indexById.set(id, earlier ?? index);
  });
  workers.forEach(({ id, fallback }, index) => {
    fallback.forEach((other, position) => {
      if (other === id)
        report(index, ['fallback', position], 'a worker cannot stand in for itself; remove it');
      else if (!indexById.has(other)) {
        report(index, ['fallback', position], `expected one of ${[...indexById.keys()].join(', ')}`);
      }
    });
  });

  function report(index: number, path: readonly PropertyKey[], message: string): void {
    context.addIssue({ code: 'custom', path: [index, ...path], message });
  }
}
