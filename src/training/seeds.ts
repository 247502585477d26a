import type { GroupPurpose } from './rollout';

/** What a random choice is made from: it depends on these and on nothing else, so that a repeated cycle repeats it. */
export type SeedPart = string | number;

/**
 * A hash of its parts in 31 bits, which every sampling server takes as a seed.
 *
 * FNV-1a with the last mix of MurmurHash3: workflow code has no cryptography at hand, and here it is enough that seeds
 * look unrelated. Two of a thousand seeds are equal once in some four thousand runs, and then two questions share
 * their luck. vLLM draws the replies of a request by its seed and the ones after it, so that there two seeds need only be
 * closer than the replies of a group are many for some of it: with 64, once in some 34 runs.
 */
export function seedOf(...parts: readonly SeedPart[]): number {
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(parts)) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return mixed(hash) >>> 1;
}

/**
 * Evenly spread numbers in [0, 1), one after the other, the same for the same parts (mulberry32).
 *
 * @returns what gives the next one
 */
export function randomFrom(...parts: readonly SeedPart[]): () => number {
  let state = seedOf(...parts);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The items in another order, each order as likely as any other: each gets a random number, and they are sorted. */
export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** Seed of the request that samples the plans of one group; the same for each policy that is tried on it. */
export function samplingSeed(group: {
  /** Of the training run, from its settings. */
  readonly seed: number;
  readonly cycle: number;
  readonly draw: number;
  readonly round: number;
  readonly purpose: GroupPurpose;
}): number {
  return seedOf(group.seed, group.purpose, group.cycle, group.draw, group.round);
}

/** The last step of MurmurHash3: every bit of the input changes each bit of the result half of the time. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
