import { createHash } from 'node:crypto';

export interface Candidate {
  readonly id: string;
  readonly source: string;
  readonly topic: string;
}

/** A part of a split, and how many questions it gets. */
export interface Part {
  readonly name: string;
  readonly count: number;
}

/**
 * Draws parts that have no question in common. Each part gets as many of each source as of any other, and within a source
 * as many of each topic, as long as there are any left; where something is scarce, each part gets its share of it.
 * Seed and ids alone decide: neither the order of the questions nor that of the files does.
 *
 * @returns for each candidate the name of its part, or null, by index
 */
export function drawBalanced(
  candidates: readonly Candidate[],
  parts: readonly Part[],
  seed: number,
): (string | null)[] {
  const drawn = candidates.map((): string | null => null);
  const groups = new Set(groupByTopic(candidates, seed));
  const fillings = parts.map((part) => ({ ...part, filled: 0, taken: new Map<string, number>() }));
  while (groups.size > 0) {
    const open = fillings.filter(({ filled, count }) => filled < count);
    const filling = leastOf(open, ({ filled, count }) => filled / count);
    if (filling === undefined) break;
    const { taken, name } = filling;
    const takenOf = (key: string): number => taken.get(key) ?? 0;
    const group = leastOf(groups, ({ source, key }) => takenOf(source) * 2 ** 26 + takenOf(key));
    if (group === undefined) break;
    drawn[group.indices.pop() ?? 0] = name;
    if (group.indices.length === 0) groups.delete(group);
    for (const key of [group.source, group.key]) taken.set(key, takenOf(key) + 1);
    filling.filled += 1;
  }
  return drawn;
}

interface Group {
  readonly source: string;
  readonly key: string;
  /** Indices of candidates. */
  readonly indices: number[];
}

/** Groups and what is in them stand in an order that the seed decides. */
function groupByTopic(candidates: readonly Candidate[], seed: number): Iterable<Group> {
  const rankOf = (text: string): string => createHash('sha256').update(`${seed}\n${text}`).digest('hex');
  const ranked = candidates
    .map(({ id, source, topic }, index) => {
      const key = `${source}\n${topic}`;
      return { source, key, index, rank: rankOf(source) + rankOf(key) + rankOf(id) };
    })
    .sort((one, other) => (one.rank < other.rank ? -1 : 1));
  const groups = new Map<string, Group>();
  for (const { source, key, index } of ranked) {
    const group = groups.get(key) ?? { source, key, indices: [] };
    groups.set(key, group);
    group.indices.push(index);
  }
  return groups.values();
}

/** The first of those with the least amount. */
function leastOf<Each>(all: Iterable<Each>, amountOf: (each: Each) => number): Each | undefined {
  let [found, least]: [Each | undefined, number] = [undefined, Infinity];
  for (const each of all) {
    const amount = amountOf(each);
    if (amount < least) [found, least] = [each, amount];
  }
  return found;
}
