type Undo = () => Promise<void>;

/** jest loads set-up and tear-down apart from each other: only the global object is theirs together. */
declare global {
  var undoAfterTests: Undo[] | undefined;
}

/** Remembers what the set-up did, to be undone after the last test. */
export function atTheEnd(undo: Undo): void {
  globalThis.undoAfterTests = [undo, ...(globalThis.undoAfterTests ?? [])];
}

/** Undoes all of it, the latest first. */
export async function undoAll(): Promise<void> {
  for (const undo of globalThis.undoAfterTests ?? []) await undo();
}
