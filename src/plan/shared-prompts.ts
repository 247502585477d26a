import type { Plan } from './plan';

/**
 * The steps that should have their provider keep what their prompts share with other steps, or look for it there: each
 * that begins when an earlier step of the same worker is over, and the first of those that it waits for. Steps that
 * begin at the same time find nothing of each other's, and writing costs more than sending.
 */
export function stepsSharingPrompts({ steps }: Plan): ReadonlySet<number> {
  const sharing = new Set<number>();
  for (const [index, all] of stepsBefore({ steps }).entries()) {
    const first = all.find((each) => steps[each]?.worker === steps[index]?.worker);
    if (first !== undefined) sharing.add(first).add(index);
  }
  return sharing;
}

/** By step: all that must be over before it begins, in ascending order. A step sees earlier ones alone. */
function stepsBefore({ steps }: Plan): number[][] {
  const before: number[][] = [];
  for (const { sees } of steps) {
    const all = sees.flatMap((earlier) => [earlier, ...(before[earlier] ?? [])]);
    before.push([...new Set(all)].sort((one, other) => one - other));
  }
  return before;
}
