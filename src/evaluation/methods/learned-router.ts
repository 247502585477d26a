import type { MethodEntry } from './method';

/** One worker for each question, as it was learned from an earlier evaluation who is right about what. */
export const learnedRouter: MethodEntry = {
  description: 'one worker for each question, by what was learned of them from --learn-from ID',
  argument: 'none',
  make: () => ({ kind: 'routed' }),
};

/** A question that workers answered alone, and whether each was right; one that could not be judged is left out. */
export interface GradedExample {
  readonly text: string;
  readonly isRight: Readonly<Record<string, boolean>>;
}

/**
 * Learns which worker is most likely right about a question: for each worker a ridge regression of its verdicts on the
 * words of the questions and on pairs of neighbouring words, each weighted by how rare it is. It takes no model and draws
 * nothing by chance. Of words that tell nothing, what is left is how often each worker was right.
 *
 * @returns the choice for a question; of equals the worker that was right more often, then the first
 */
export function learnRouting(
  workers: readonly string[],
  examples: readonly GradedExample[],
): (text: string) => string {
  const vocabulary = vocabularyOf(examples.map(({ text }) => text));
  const rows = examples.map(({ text }) => vectorOf(text, vocabulary));
  const models = workers.map((worker) => {
    const known = examples.flatMap(({ isRight }, place) => {
      const right = isRight[worker];
      return right === undefined ? [] : [{ row: rows[place] ?? [], right: right ? 1 : 0 }];
    });
    const mean = known.reduce((sum, { right }) => sum + right, 0) / Math.max(1, known.length);
    const excess = known.map(({ right }) => right - mean);
    return {
      worker,
      mean,
      weights: ridge(
        known.map(({ row }) => row),
        excess,
        vocabulary.size,
      ),
    };
  });
  return (text) => {
    const vector = vectorOf(text, vocabulary);
    const scored = models.map(({ worker, mean, weights }) => ({
      worker,
      mean,
      score: mean + dot(vector, weights),
    }));
    const [best] = scored.toSorted((one, other) => other.score - one.score || other.mean - one.mean);
    return best?.worker ?? '';
  };
}

type SparseVector = readonly (readonly [feature: number, value: number])[];
/** Number and weight of each feature. */
type Vocabulary = ReadonlyMap<string, readonly [feature: number, weight: number]>;

/** A question may be as long as a book; its beginning tells what it is about. */
const MOST_WORDS = 2_000;

/** Words and their neighbours, each once. Numbers are all alike. */
function featuresOf(text: string): Set<string> {
  const words = (text.toLowerCase().match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]/gu) ?? [])
    .slice(0, MOST_WORDS)
    .map((word) => (/^\p{N}/u.test(word) ? '0' : word));
  const pairs = words.slice(1).map((word, place) => `${words[place] ?? ''} ${word}`);
  return new Set([...words, ...pairs]);
}

/** Least number of questions with a word before it counts; a single one says nothing about another. */
const FEWEST_QUESTIONS = 2;

function vocabularyOf(texts: readonly string[]): Vocabulary {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const feature of featuresOf(text)) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  }
  const common = [...counts].filter(([, count]) => count >= FEWEST_QUESTIONS);
  return new Map(
    common.map(([feature, count], place) => [feature, [place, Math.log(1 + texts.length / count)]]),
  );
}

/** Scales features to length 1, so that long questions weigh no more than short ones. */
function vectorOf(text: string, vocabulary: Vocabulary): SparseVector {
  const known = [...featuresOf(text)].flatMap((feature) => {
    const entry = vocabulary.get(feature);
    return entry === undefined ? [] : [entry];
  });
  const length = Math.sqrt(known.reduce((sum, [, weight]) => sum + weight ** 2, 0));
  return known.map(([feature, weight]) => [feature, weight / length]);
}

function dot(row: SparseVector, weights: Float64Array): number {
  return row.reduce((sum, [feature, value]) => sum + value * (weights[feature] ?? 0), 0);
}

/** How much a word is distrusted: as much as one question with no other word says for it. */
const PENALTY = 1;
const MOST_STEPS = 100;

/** Solves (XᵀX + penalty) weights = Xᵀ targets by conjugate gradients. */
function ridge(rows: readonly SparseVector[], targets: readonly number[], features: number): Float64Array {
  const weights = new Float64Array(features);
  const residual = transposed(rows, targets, features);
  const direction = Float64Array.from(residual);
  let size = squared(residual);
  for (let step = 0; step < MOST_STEPS && size > 1e-12; step += 1) {
    const image = transposed(
      rows,
      rows.map((row) => dot(row, direction)),
      features,
    );
    addScaled(image, PENALTY, direction);
    const curvature = direction.reduce((sum, value, place) => sum + value * (image[place] ?? 0), 0);
    addScaled(weights, size / curvature, direction);
    addScaled(residual, -size / curvature, image);
    const next = squared(residual);
    direction.forEach((value, place) => {
      direction[place] = (residual[place] ?? 0) + (next / size) * value;
    });
    size = next;
  }
  return weights;
}

function transposed(
  rows: readonly SparseVector[],
  values: readonly number[],
  features: number,
): Float64Array {
  const sums = new Float64Array(features);
  rows.forEach((row, place) => {
    for (const [feature, value] of row) sums[feature] = (sums[feature] ?? 0) + value * (values[place] ?? 0);
  });
  return sums;
}

function addScaled(to: Float64Array, factor: number, vector: Float64Array): void {
  vector.forEach((value, place) => {
    to[place] = (to[place] ?? 0) + factor * value;
  });
}

function squared(vector: Float64Array): number {
  return vector.reduce((sum, value) => sum + value ** 2, 0);
}
