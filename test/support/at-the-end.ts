type Undo = () => unknown;

const undone: Undo[] = [];

// A file that is loaded with others declares its hooks within a block, which ends earlier: see `together.ts`.
if ('afterAll' in globalThis) afterAll(undoAll);

/** Has something undone after the last test that this process of jest runs in one place. */
export function atTheEnd(undo: Undo): void {
  undone.push(undo);
}

/** Undoes it now, in a command that jest does not run. */
export async function undoAll(): Promise<void> {
  await Promise.all(undone.map((undo) => undo()));
}
