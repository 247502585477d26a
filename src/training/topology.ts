import type { Plan } from '../plan/plan';

/** Shapes of plans, in the order in which pictures show them. */
export const TOPOLOGIES = ['single', 'chain', 'parallel', 'tree', 'other'] as const;
export type Topology = (typeof TOPOLOGIES)[number];

/**
 * The shape of a plan, for the picture of how shapes change while a policy learns (paper figure 3). What a step sees
 * through a step that it sees does not count, so `["all"]` in a row of steps is still a row.
 *
 * - `single`: one step;
 * - `chain`: each step after the first builds on the one right before it;
 * - `parallel`: nobody sees anybody;
 * - `tree`: every output but the last goes into exactly one later step, and somewhere several come together;
 * - `other`: anything else, such as an output that two steps use, or one that nobody does.
 *
 * @returns null for a plan without steps, which accepts what is there
 */
export function topologyOf({ steps }: Plan): Topology | null {
  if (steps.length === 0) return null;
  if (steps.length === 1) return 'single';
  if (steps.every(({ sees }) => sees.length === 0)) return 'parallel';
  const links = directLinks(steps.map(({ sees }) => sees));
  if (links.every((sources, index) => index === 0 || sources.includes(index - 1))) return 'chain';
  const uses = steps.slice(0, -1).map((_, step) => links.filter((sources) => sources.includes(step)).length);
  return uses.every((count) => count === 1) ? 'tree' : 'other';
}

/** For each step the ones it sees and does not see through another one already. */
function directLinks(sees: readonly (readonly number[])[]): number[][] {
  const reach: Set<number>[] = [];
  for (const seen of sees)
    reach.push(new Set([...seen, ...seen.flatMap((step) => [...(reach[step] ?? [])])]));
  return sees.map((seen) => seen.filter((step) => !seen.some((other) => reach[other]?.has(step))));
}
