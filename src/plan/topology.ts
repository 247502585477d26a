import { CONDUCTOR_ID, type Plan } from './plan';

/** Kinds of plans by their graph, in the order in which charts show them, with their display names. */
export const TOPOLOGY_NAMES = {
  single: 'one shot',
  chain: 'a chain',
  aggregate: 'attempts and an aggregator',
  verify: 'plan, execute, verify',
  tree: 'a tree',
  recursion: 'a recursion',
  parallel: 'independent steps',
  other: 'another graph',
} as const;

export type Topology = keyof typeof TOPOLOGY_NAMES;
export const TOPOLOGIES = Object.keys(TOPOLOGY_NAMES) as readonly Topology[];

/**
 * Returns the kind of a plan by its graph, ignoring links that a longer path implies. The first match wins:
 *
 * - `recursion`: the Conductor itself is the worker of a step;
 * - `single`: one step;
 * - `parallel`: no step sees another;
 * - `chain`: each step after the first sees the one right before it;
 * - `aggregate`: the last step sees all others, which see nothing;
 * - `verify`: plan, execute, verify: a single first step feeds all others, which lead to the last;
 * - `tree`: every output but the last is seen by exactly one later step, and some step sees several;
 * - `other`: anything else, such as an output that no step sees.
 *
 * Returns null for a plan without steps, which accepts the existing answer.
 */
export function topologyOf({ steps }: Plan): Topology | null {
  if (steps.length === 0) return null;
  if (steps.some(({ worker }) => worker === CONDUCTOR_ID)) return 'recursion';
  if (steps.length === 1) return 'single';
  return kindOf(directLinks(steps.map(({ sees }) => sees)));
}

function kindOf(links: readonly (readonly number[])[]): Topology {
  const sources = links.filter((link) => link.length === 0).length;
  if (sources === links.length) return 'parallel';
  if (links.every((link, index) => index === 0 || link.includes(index - 1))) return 'chain';
  const uses = links.slice(0, -1).map((_, step) => links.filter((link) => link.includes(step)).length);
  if (uses.includes(0)) return 'other';
  if (sources === links.length - 1) return 'aggregate';
  if (sources === 1) return 'verify';
  return uses.every((count) => count === 1) ? 'tree' : 'other';
}

/** Returns for each step the steps that it sees, except those that it also reaches through another one. */
function directLinks(sees: readonly (readonly number[])[]): number[][] {
  const reach: Set<number>[] = [];
  for (const seen of sees)
    reach.push(new Set([...seen, ...seen.flatMap((step) => [...(reach[step] ?? [])])]));
  return sees.map((seen) => seen.filter((step) => !seen.some((other) => reach[other]?.has(step))));
}
