import { createHash } from 'node:crypto';

/** What a question is drawn by. */
export interface Candidate {
  readonly id: string;
  readonly source: string;
  readonly topic: string;
}

/** Of a split: how many questions it gets. */
export interface Part {
  readonly name: string;
  readonly count: number;
}

/**
 * Draws parts that have no question in common. Each part gets as many of each source as of any other, and within a source
 * as many of each topic, as long as there are any left; where something is scarce, each part gets its share of it.
 *
 * Seed and ids alone decide: neither the order of the questions nor that of the files does.
 *
 * @returns for each candidate its part, by index; null: none
 */
export function drawBalanced(
  candidates: readonly Candidate[],
  parts: readonly Part[],
  seed: number,
): (string | null)[] {
  const drawn = candidates.map((): string | null => null);
  const left = stock(candidates, seed);
  const fillings = parts.map((part) => ({ ...part, filled: 0, taken: new Map<string, number>() }));
  for (;;) {
    const open = fillings.filter(({ filled, count }) => filled < count);
    const filling = leastOf(open, ({ filled, count }) => filled / count);
    const index = filling === undefined ? undefined : take(left, filling.taken);
    if (filling === undefined || index === undefined) return drawn;
    drawn[index] = filling.name;
    filling.filled += 1;
  }
}

type Stock = Map<string, Map<string, number[]>>;

/** Takes a question out of the stock, of what was taken least so far; undefined where none is left. */
function take(left: Stock, taken: Map<string, number>): number | undefined {
  const source = leastOf([...left.keys()], (name) => taken.get(name) ?? 0) ?? '';
  const topics = left.get(source) ?? new Map<string, number[]>();
  const keyOf = (topic: string): string => JSON.stringify([source, topic]);
  const topic = leastOf([...topics.keys()], (name) => taken.get(keyOf(name)) ?? 0) ?? '';
  const indices = topics.get(topic) ?? [];
  const index = indices.pop();
  for (const key of [source, keyOf(topic)]) taken.set(key, (taken.get(key) ?? 0) + 1);
  if (indices.length === 0) topics.delete(topic);
  if (topics.size === 0) left.delete(source);
  return index;
}

/** Indices by source and topic, all in an order that the seed decides. */
function stock(candidates: readonly Candidate[], seed: number): Stock {
  const rankOf = (text: string): string => createHash('sha256').update(`${seed}\n${text}`).digest('hex');
  const ordered = candidates
    .map(({ id, source, topic }, index) => ({
      index,
      source,
      topic,
      rank: [rankOf(source), rankOf(`${source}\n${topic}`), rankOf(id)].join(''),
    }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1));
  const all: Stock = new Map();
  for (const { index, source, topic } of ordered) {
    const topics = all.get(source) ?? new Map<string, number[]>();
    const indices = topics.get(topic) ?? [];
    indices.push(index);
    all.set(source, topics.set(topic, indices));
  }
  return all;
}

/** The first of those of which there is least. */
function leastOf<Each>(all: readonly Each[], amountOf: (each: Each) => number): Each | undefined {
  return all.reduce<Each | undefined>(
    (least, each) => (least === undefined || amountOf(each) < amountOf(least) ? each : least),
    undefined,
  );
}
