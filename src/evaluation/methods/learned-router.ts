/** A question, and whether each worker answered it correctly alone; ungraded answers are left out. */
export interface GradedExample {
  readonly text: string;
  readonly isRight: Readonly<Record<string, boolean>>;
}

/** Weight of an example that has nothing in common with the question. */
const LEAST_WEIGHT = 0.001;

/**
 * Learns which worker is most likely right about a question. An earlier question weighs more the more words and pairs
 * of neighbouring words it shares with this one, rare ones above all. On a tie, the worker right more often wins.
 */
export function learnRouting(
  workers: readonly string[],
  examples: readonly GradedExample[],
): (text: string) => string {
  const weightOf = rarityOf(examples.map(({ text }) => text));
  const known = examples.map(({ text, isRight }) => ({ isRight, vector: vectorOf(text, weightOf) }));
  return (text) => {
    const asked = vectorOf(text, weightOf);
    const weights = known.map(({ vector }) => LEAST_WEIGHT + similarity(asked, vector) ** 2);
    const shareOf = (worker: string, weightAt: (place: number) => number): number => {
      let [right, all] = [0, Number.EPSILON];
      for (const [place, { isRight }] of known.entries()) {
        if (isRight[worker] === undefined) continue;
        all += weightAt(place);
        right += isRight[worker] ? weightAt(place) : 0;
      }
      return right / all;
    };
    const scored = workers.map((worker) => ({
      worker,
      score: shareOf(worker, (place) => weights[place] ?? 0),
      mean: shareOf(worker, () => 1),
    }));
    const [best] = scored.toSorted((one, other) => other.score - one.score || other.mean - one.mean);
    return best?.worker ?? '';
  };
}

type Vector = ReadonlyMap<string, number>;

/** Longer questions are cut, since the beginning shows what a question is about. */
const MOST_WORDS = 2_000;

/** Returns the distinct words and pairs of neighbouring words of a text; all numbers count as one word. */
function featuresOf(text: string): Set<string> {
  const words = (text.toLowerCase().match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]/gu) ?? [])
    .slice(0, MOST_WORDS)
    .map((word) => (/^\p{N}/u.test(word) ? '0' : word));
  const pairs = words.slice(1).map((word, place) => `${words[place] ?? ''} ${word}`);
  return new Set([...words, ...pairs]);
}

function rarityOf(texts: readonly string[]): (feature: string) => number {
  const counts = new Map<string, number>();
  for (const feature of texts.flatMap((text) => [...featuresOf(text)])) {
    counts.set(feature, (counts.get(feature) ?? 0) + 1);
  }
  return (feature) => Math.log(1 + texts.length / (counts.get(feature) ?? Infinity));
}

/** Scales features to length 1, so that long questions weigh no more than short ones. */
function vectorOf(text: string, weightOf: (feature: string) => number): Vector {
  const weighted = [...featuresOf(text)].map((feature) => [feature, weightOf(feature)] as const);
  const length = Math.hypot(...weighted.map(([, weight]) => weight)) || 1;
  return new Map(weighted.map(([feature, weight]) => [feature, weight / length]));
}

function similarity(one: Vector, other: Vector): number {
  let sum = 0;
  for (const [feature, weight] of one) sum += weight * (other.get(feature) ?? 0);
  return sum;
}
