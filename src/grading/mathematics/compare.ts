import { normalizeText } from '../read-answer';
import type { Unit } from '../units';
import { isSameRational, readRational } from '../rational';
import { MATRIX, type Scalar, type Shape, type Tuple } from './shape';

/**
 * `different`: both were understood, and their values differ. `no`: they are not seen to be the same, which is less.
 * `unknown`: one was not understood, or took too long.
 */
export type Comparison = 'same' | 'different' | 'no' | 'unknown';

export type EngineJob =
  | { readonly kind: 'expression'; readonly right: string; readonly answer: string }
  | {
      readonly kind: 'equation' | 'inequality';
      readonly right: readonly [string, string];
      readonly answer: readonly [string, string];
    };

type AskEngine = (job: EngineJob) => Promise<Comparison>;

/** Sets larger than that are not matched item by item. */
const MOST_MATCHED = 30;

/**
 * Compares what an answer is made of with what the right one is, leaf by leaf: numbers exactly, everything else by the
 * engine.
 */
export async function compareShapes(right: Shape, answer: Shape, ask: AskEngine): Promise<Comparison> {
  if (right.kind === 'relation' || answer.kind === 'relation') return compareRelations(right, answer, ask);
  if (right.kind === 'words' || answer.kind === 'words')
    return textOf(right) === textOf(answer) ? 'same' : 'no';
  if (right.kind === 'scalar' && answer.kind === 'scalar') return compareScalars(right, answer, ask);
  return compareItems(right, answer, ask);
}

async function compareItems(right: Shape, answer: Shape, ask: AskEngine): Promise<Comparison> {
  if (right.kind === 'many' && answer.kind === 'many') return compareMany(right.items, answer.items, ask);
  if (right.kind === 'tuple' && answer.kind === 'tuple') return compareTuples(right, answer, ask);
  return 'no';
}

/** Reads words, with or without `\text`; null for anything else. */
function textOf(shape: Shape): string | null {
  if (shape.kind === 'words') return shape.text;
  return shape.kind === 'scalar' ? normalizeText(shape.latex) : null;
}

async function compareTuples(right: Tuple, answer: Tuple, ask: AskEngine): Promise<Comparison> {
  // A matrix may be meant for a vector.
  if ((right.open === MATRIX) !== (answer.open === MATRIX)) return 'no';
  const isSamePair = right.open === answer.open && right.close === answer.close;
  const items = await compareEach(right.items, answer.items, ask);
  return items === 'same' && !isSamePair ? 'different' : items;
}

async function compareEach(
  right: readonly Shape[],
  answer: readonly Shape[],
  ask: AskEngine,
): Promise<Comparison> {
  if (right.length !== answer.length) return 'different';
  const found = new Set<Comparison>();
  for (const [index, item] of right.entries()) {
    const other = answer[index];
    if (other !== undefined) found.add(await compareShapes(item, other, ask));
    if (found.has('different')) return 'different';
  }
  return worst(found);
}

async function compareMany(
  right: readonly Shape[],
  answer: readonly Shape[],
  ask: AskEngine,
): Promise<Comparison> {
  if (right.length !== answer.length || right.length > MOST_MATCHED) return 'no';
  const left = [...answer];
  const found = new Set<Comparison>();
  for (const item of right) {
    const at = await findSame(item, left, ask);
    found.add(at.comparison);
    if (at.comparison !== 'same') return worst(found);
    left.splice(at.index, 1);
  }
  return 'same';
}

async function findSame(
  item: Shape,
  among: readonly Shape[],
  ask: AskEngine,
): Promise<{ readonly index: number; readonly comparison: Comparison }> {
  const found = new Set<Comparison>();
  for (const [index, each] of among.entries()) {
    const comparison = await compareShapes(item, each, ask);
    if (comparison === 'same') return { index, comparison };
    found.add(comparison);
  }
  const isDifferent = found.size === 1 && found.has('different');
  return { index: -1, comparison: isDifferent ? 'different' : found.has('unknown') ? 'unknown' : 'no' };
}

/** Equations are the same where one is a multiple of the other; `x = 3` is also `3`. */
async function compareRelations(right: Shape, answer: Shape, ask: AskEngine): Promise<Comparison> {
  const [wanted, given] = [valueOf(right), valueOf(answer)];
  if (right.kind !== 'relation') return given === null ? 'no' : compareShapes(right, given, ask);
  if (answer.kind !== 'relation') return wanted === null ? 'no' : compareShapes(wanted, answer, ask);
  if (wanted !== null && given !== null && bare(right.left) === bare(answer.left)) {
    return compareShapes(wanted, given, ask);
  }
  if (right.operator !== answer.operator) return 'no';
  return ask({
    kind: right.operator === '=' ? 'equation' : 'inequality',
    right: [right.left, right.right],
    answer: [answer.left, answer.right],
  });
}

function valueOf(shape: Shape): Shape | null {
  return shape.kind === 'relation' ? shape.value : shape;
}

async function compareScalars(right: Scalar, answer: Scalar, ask: AskEngine): Promise<Comparison> {
  const pairs = writings(right, answer);
  if (pairs === null) return 'different';
  let found: Comparison = 'no';
  for (const [one, other] of pairs) {
    found = await compareLatex(one, other, ask);
    if (found === 'same') break;
  }
  // Words behind a number are no unit of ours: one may mean the other.
  const isDoubtful = right.unit === 'other' || answer.unit === 'other';
  return isDoubtful && found === 'different' ? 'no' : found;
}

/** Pairs to compare once units are brought in; null if they measure different things. */
function writings(right: Scalar, answer: Scalar): readonly (readonly [string, string])[] | null {
  const [wanted, given] = [unitOf(right), unitOf(answer)];
  const plain = [right.latex, answer.latex] as const;
  const converted = [inFirstUnit(right.latex, wanted), inFirstUnit(answer.latex, given)] as const;
  if (wanted !== null && given !== null) {
    if (wanted.dimension !== given.dimension) return null;
    return [wanted.factor === given.factor ? plain : converted];
  }
  const { dimension = '' } = wanted ?? given ?? {};
  return ['share', 'angle'].includes(dimension) ? [plain, converted] : [plain];
}

function unitOf({ unit }: Scalar): Unit | null {
  return unit === 'other' ? null : unit;
}

function inFirstUnit(latex: string, unit: Unit | null): string {
  const { dimension, factor } = unit ?? { dimension: '', factor: 1 };
  if (factor === 1) return latex;
  if (dimension === 'angle') return String.raw`(${latex})\cdot\frac{\pi}{180}`;
  const written = factor.toExponential().replace(/e\+?(-?\d+)$/, String.raw`\times 10^{$1}`);
  return String.raw`(${latex})\cdot(${written})`;
}

async function compareLatex(right: string, answer: string, ask: AskEngine): Promise<Comparison> {
  if (bare(right) === bare(answer)) return 'same';
  const [wanted, given] = [readRational(right), readRational(answer)];
  if (wanted !== null && given !== null) return isSameRational(wanted, given) ? 'same' : 'different';
  return ask({ kind: 'expression', right, answer });
}

function bare(latex: string): string {
  return normalizeText(latex, true).replace(/\s/g, '');
}

function worst(found: ReadonlySet<Comparison>): Comparison {
  for (const each of ['unknown', 'no', 'different'] as const) if (found.has(each)) return each;
  return 'same';
}
