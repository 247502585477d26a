import type { Plan } from './plan';

/**
 * Whether a step should have its provider keep what its prompt shares with other steps, or look for it there: where an
 * earlier step of the same worker is over by the time that this one begins, or this is the first of those that a later
 * one waits for. Steps that begin at the same time find nothing of each other's, and writing costs more than sending.
 */
export function sharesPrompt({ steps }: Plan, index: number): boolean {
  const worker = steps[index]?.worker;
  const before = stepsBefore({ steps }).map((all) => all.filter((each) => steps[each]?.worker === worker));
  const isLater = (before[index]?.length ?? 0) > 0;
  return isLater || steps.some((step, later) => step.worker === worker && before[later]?.[0] === index);
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
