type Undo = () => unknown;

const undone: Undo[] = [];

// A file that is loaded with others declares its hooks within a block, which ends earlier: see `together.ts`.
afterAll(() => Promise.all(undone.map((undo) => undo())));

/** Has something undone after the last test that this process of jest runs in one place. */
export function atTheEnd(undo: Undo): void {
  undone.push(undo);
}
