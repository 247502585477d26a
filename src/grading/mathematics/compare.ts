import { normalizeText } from '../read-answer';
import { comparableAs, type Unit } from '../units';
import { isSameRational, readRational } from '../rational';
import { MATRIX, type Scalar, type Shape, type Tuple } from './shape';

/**
 * `different`: both were understood, and their values differ. `no`: they were not shown to be the same, which is
 * weaker. `unknown`: one was not understood, or took too long.
 */
export type Sameness = 'same' | 'different' | 'no' | 'unknown';

export type EngineJob =
  | { readonly kind: 'expression'; readonly right: string; readonly answer: string }
  | {
      readonly kind: 'equation' | 'inequality';
      readonly right: readonly [string, string];
      readonly answer: readonly [string, string];
    };

type AskEngine = (job: EngineJob) => Promise<Sameness>;

type Items = readonly Shape[];

/** Most items of a set that are matched one by one. */
const MOST_MATCHED = 30;

/** Compares an answer with the right one, leaf by leaf: numbers exactly, everything else by the engine. */
export async function compareShapes(right: Shape, answer: Shape, ask: AskEngine): Promise<Sameness> {
  if (right.kind === 'relation' || answer.kind === 'relation') return compareRelations(right, answer, ask);
  if (right.kind === 'words' || answer.kind === 'words')
    return textOfShape(right) === textOfShape(answer) ? 'same' : 'no';
  if (right.kind === 'scalar' && answer.kind === 'scalar') return compareScalars(right, answer, ask);
  return compareItems(right, answer, ask);
}

async function compareItems(right: Shape, answer: Shape, ask: AskEngine): Promise<Sameness> {
  if (right.kind === 'many' && answer.kind === 'many') return compareMany(right.items, answer.items, ask);
  if (right.kind === 'tuple' && answer.kind === 'tuple') return compareTuples(right, answer, ask);
  return 'no';
}

/** Reads words, with or without `\text`; null for anything else. */
function textOfShape(shape: Shape): string | null {
  if (shape.kind === 'words') return shape.text;
  return shape.kind === 'scalar' ? normalizeText(shape.latex) : null;
}

async function compareTuples(right: Tuple, answer: Tuple, ask: AskEngine): Promise<Sameness> {
  // A matrix may be meant as a vector.
  if ((right.open === MATRIX) !== (answer.open === MATRIX)) return 'no';
  if (right.items.length !== answer.items.length) return 'different';
  const found: Sameness[] = [];
  for (const [index, item] of right.items.entries()) {
    const other = answer.items[index];
    if (other !== undefined) found.push(await compareShapes(item, other, ask));
    if (found.at(-1) === 'different') return 'different';
  }
  const items = worst(found);
  const isSamePair = right.open === answer.open && right.close === answer.close;
  return items === 'same' && !isSamePair ? 'different' : items;
}

async function compareMany(right: Items, answer: Items, ask: AskEngine): Promise<Sameness> {
  if (right.length !== answer.length || right.length > MOST_MATCHED) return 'no';
  const left = [...answer];
  for (const item of right) {
    const found: Sameness[] = [];
    for (const other of left) {
      found.push(await compareShapes(item, other, ask));
      if (found.at(-1) === 'same') break;
    }
    if (found.at(-1) !== 'same') return worst(found);
    left.splice(found.length - 1, 1);
  }
  return 'same';
}

/** Compares relations. Equations are the same if one is a multiple of the other; `x = 3` is also `3`. */
async function compareRelations(right: Shape, answer: Shape, ask: AskEngine): Promise<Sameness> {
  if (right.kind !== 'relation') return compareWithResult(right, answer, ask);
  const [wanted, given] = [right.value, answer.kind === 'relation' ? answer.value : answer];
  const isSameName = answer.kind !== 'relation' || bare(right.left) === bare(answer.left);
  if (isSameName && wanted !== null && given !== null) return compareShapes(wanted, given, ask);
  if (answer.kind !== 'relation' || right.operator !== answer.operator) return 'no';
  return ask({
    kind: right.operator === '=' ? 'equation' : 'inequality',
    right: [right.left, right.right],
    answer: [answer.left, answer.right],
  });
}

/** Compares a right answer that is no relation: an equation counts by its right side. */
async function compareWithResult(right: Shape, answer: Shape, ask: AskEngine): Promise<Sameness> {
  const result = answer.kind === 'relation' ? answer.result : answer;
  return result === null ? 'no' : compareShapes(right, result, ask);
}

async function compareScalars(right: Scalar, answer: Scalar, ask: AskEngine): Promise<Sameness> {
  const [wanted, given] = [unitOf(right), unitOf(answer)];
  let found: Sameness = 'different';
  for (const way of comparableAs(wanted, given)) {
    found =
      way === 'written'
        ? await compareLatex(right.latex, answer.latex, ask)
        : await compareLatex(inFirstUnit(right.latex, wanted), inFirstUnit(answer.latex, given), ask);
    if (found === 'same') break;
  }
  // Words after a number are not a known unit: one may mean the other.
  const isDoubtful = right.unit === 'other' || answer.unit === 'other';
  return isDoubtful && found === 'different' ? 'no' : found;
}

function unitOf({ unit }: Scalar): Unit | null {
  return unit === 'other' ? null : unit;
}

function inFirstUnit(latex: string, unit: Unit | null): string {
  const { dimension, factor } = unit ?? { dimension: '', factor: 1 };
  if (factor === 1) return latex;
  if (dimension === 'angle') return String.raw`(${latex})\cdot\frac{\pi}{180}`;
  const written = factor.toExponential().replace(/e\+?(-?\d+)$/, String.raw`\times 10^{$1}`);
  return String.raw`(${latex})\cdot ${written}`;
}

async function compareLatex(right: string, answer: string, ask: AskEngine): Promise<Sameness> {
  if (bare(right) === bare(answer)) return 'same';
  const [wanted, given] = [readRational(right), readRational(answer)];
  if (wanted !== null && given !== null) return isSameRational(wanted, given) ? 'same' : 'different';
  // Between vectors, these are two products.
  if ((CROSS.test(right) && DOT.test(answer)) || (DOT.test(right) && CROSS.test(answer))) return 'unknown';
  return ask({ kind: 'expression', right, answer });
}

const CROSS = /[a-zA-Z]\s?\\times\s?[a-zA-Z]/;
const DOT = /[a-zA-Z]\s?\\cdot\s?[a-zA-Z]/;

function bare(latex: string): string {
  return normalizeText(latex, true).replace(/\s/g, '');
}

function worst(found: readonly Sameness[]): Sameness {
  return (['unknown', 'no', 'different'] as const).find((each) => found.includes(each)) ?? 'same';
}
