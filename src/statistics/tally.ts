/** Groups values by a key, in the order in which the keys first occur. */
export function groupBy<Key, Value>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): Map<Key, readonly Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value)) ?? [];
    group.push(value);
    groups.set(keyOf(value), group);
  }
  return groups;
}

/** Counts how often each word occurs. */
export function tally(words: readonly string[]): Record<string, number> {
  return sumCounts(words.map((word) => ({ [word]: 1 })));
}

/** Adds up counts by name. */
export function sumCounts(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const [name, count] of all.flatMap((counts) => Object.entries(counts))) {
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return Object.fromEntries(sums);
}

/** Divides counts by their sum. */
export function sharesOf(counts: Readonly<Record<string, number>>): Record<string, number> {
  const sum = Object.values(counts).reduce((total, count) => total + count, 0);
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / sum]));
}
