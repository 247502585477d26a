/**
 * Runs `work` for each item, at most `window` at once, started in order. All started work has ended when this returns
 * or throws, so a cancelled group leaves no call behind.
 * @throws the first failure, after which nothing more is started
 */
export async function inWindow<Item, Result>(
  items: readonly Item[],
  window: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const failures: unknown[] = [];
  async function workOn(): Promise<void> {
    for (const [index, item] of waiting) {
      if (failures.length > 0) return;
      try {
        results[index] = await work(item, index);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(window, items.length) }, workOn));
  if (failures.length > 0) throw failures[0];
  return results;
}
