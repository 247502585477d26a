import { normalizeText } from '../read-answer';
import { readUnit, type Unit } from '../units';
import { normalizeMath } from './normalize';

/** Structure of a mathematical answer; its leaves are normalised LaTeX. */
export type Shape =
  | Scalar
  | { readonly kind: 'words'; readonly text: string }
  /** In any order: a list, a set, a union. */
  | { readonly kind: 'many'; readonly items: readonly Shape[] }
  | Tuple
  | Relation;

/** In this order: a point, a vector, an interval, a matrix with its rows. */
export interface Tuple {
  readonly kind: 'tuple';
  readonly open: string;
  readonly close: string;
  readonly items: readonly Shape[];
}

export const MATRIX = 'matrix';

export interface Scalar {
  readonly kind: 'scalar';
  readonly latex: string;
  /** `other`: words that are no unit of ours. */
  readonly unit: Unit | 'other' | null;
}

interface Relation {
  readonly kind: 'relation';
  readonly operator: Operator;
  readonly left: string;
  readonly right: string;
  /** Right side if the left one is a name, as in `x = 3` or `f(x) = 2x`. */
  readonly value: Shape | null;
}

type Operator = '=' | '<' | '\\le' | '\\ne';

/** Deeper nesting is no answer, and would only fill the stack. */
const MOST_NESTED = 20;

/** Reads an answer, or a right answer; what is not understood is a scalar. */
export function readShape(text: string): Shape {
  return shapeOf(normalizeMath(text), 0);
}

function shapeOf(text: string, depth: number): Shape {
  const latex = withoutGroup(text.trim());
  if (depth > MOST_NESTED) return scalar(latex);
  return (
    readMany(latex, depth) ??
    readRelation(latex, depth) ??
    readBracketed(latex, depth) ??
    readMatrix(latex, depth) ??
    readBothSigns(latex, depth) ??
    readWords(latex) ??
    readScalar(latex)
  );
}

const THOUSANDS = /^-?\d{1,3}(?:,\d{3}){1,20}(?:\.\d{1,40})?(?![\d,])/;

/** A list without brackets, or a union. */
function readMany(latex: string, depth: number): Shape | null {
  const thousands = THOUSANDS.exec(latex)?.[0];
  if (thousands !== undefined) {
    const joined = thousands.replaceAll(',', '') + latex.slice(thousands.length);
    return shapeOf(joined, depth + 1);
  }
  const listed = divide(latex, [',', ';']);
  const parts = listed.length > 1 ? listed : divide(latex, ['\\cup']);
  if (parts.length < 2) return null;
  return many(parts.map((part) => shapeOf(part, depth + 1)));
}

function many(items: readonly Shape[]): Shape {
  const flat = items.flatMap((item) => (item.kind === 'many' ? item.items : [item]));
  const [first] = flat;
  return first !== undefined && flat.length === 1 ? first : { kind: 'many', items: flat };
}

const OPERATORS = ['=', '<', '>', '\\le', '\\ge', '\\ne', '\\in', '\\approx'] as const;
const NAME =
  /^(?:[a-zA-Z]|\([a-z](?:, ?[a-z]){1,4}\)|\\[a-zA-Z]{2,12}|\\text\{[^{}]{0,60}\})(?:_\{\w{1,9}\})?\s?(?:\([a-zA-Z](?:, ?[a-zA-Z]){0,4}\))?$/;
const VARIABLE = /^[a-zA-Z]$/;

/** Parts between the signs of `1 < x < 2`, and the signs. */
interface Divided {
  readonly parts: readonly string[];
  readonly operators: readonly (typeof OPERATORS)[number][];
}

function readRelation(latex: string, depth: number): Shape | null {
  const divided = divideBy(latex, OPERATORS);
  if (divided.operators.length === 0) return null;
  return readEquation(divided, depth) ?? readInequality(divided, depth) ?? scalar(latex);
}

/** Takes the last part of `x = 6/2 = 3`, the first of `1/3 \approx 0.33`, and the set of `x \in A`. */
function readEquation({ parts, operators }: Divided, depth: number): Shape | null {
  const [left = '', right = ''] = parts;
  if (operators[0] === '\\in') return shapeOf(right, depth + 1);
  if (operators.some((each) => each !== '=' && each !== '\\approx')) return null;
  if (operators[0] === '\\approx' && !NAME.test(left)) return shapeOf(left, depth + 1);
  const last = parts.at(-1) ?? '';
  const value = NAME.test(left) ? shapeOf(last, depth + 1) : null;
  return { kind: 'relation', operator: '=', left, right: last, value };
}

/** null for a chain that runs up and down, or is too long. */
function readInequality(divided: Divided, depth: number): Shape | null {
  const chain = upwards(divided);
  if (chain === null) return readUnequal(divided);
  const [left = '', middle = '', right] = chain.parts;
  if (right === undefined) return readBound(left, middle, chain, depth);
  const isChain = chain.parts.length === 3 && VARIABLE.test(middle);
  return isChain ? interval(chain.open, left, right, chain.close, depth) : null;
}

function readBound(left: string, right: string, { open, close }: Upwards, depth: number): Shape {
  if (VARIABLE.test(left)) return interval('(', '-\\infty', right, close, depth);
  if (VARIABLE.test(right)) return interval(open, left, '\\infty', ')', depth);
  return { kind: 'relation', operator: open === '(' ? '<' : '\\le', left, right, value: null };
}

function readUnequal({ parts, operators }: Divided): Shape | null {
  const [left = '', right = ''] = parts;
  return operators.join() === '\\ne'
    ? { kind: 'relation', operator: '\\ne', left, right, value: null }
    : null;
}

/** A chain from its least part on, with the brackets that its signs stand for. */
interface Upwards {
  readonly parts: readonly string[];
  readonly open: string;
  readonly close: string;
}

function upwards({ parts, operators }: Divided): Upwards | null {
  const isDown = operators.every((each) => each === '>' || each === '\\ge');
  if (!isDown && !operators.every((each) => each === '<' || each === '\\le')) return null;
  const strict = operators.map((each) => each === '<' || each === '>');
  if (isDown) strict.reverse();
  return {
    parts: isDown ? parts.toReversed() : parts,
    open: strict[0] === true ? '(' : '[',
    close: strict.at(-1) === true ? ')' : ']',
  };
}

function interval(open: string, from: string, to: string, close: string, depth: number): Shape {
  return { kind: 'tuple', open, close, items: [shapeOf(from, depth + 1), shapeOf(to, depth + 1)] };
}

const SET_BUILDER = /^[a-zA-Z]\s?(?:\\in\s?\\mathbb\{R\}\s?)?(?:\\mid|\\vert|:|\|)\s?(.{1,2000})$/;

function readBracketed(latex: string, depth: number): Shape | null {
  if (latex === '\\emptyset') return { kind: 'many', items: [] };
  if (latex.startsWith('\\{') && latex.endsWith('\\}')) return readSet(latex.slice(2, -2).trim(), depth);
  if (!/^[([]/.test(latex) || !/[)\]]$/.test(latex) || !isOnePair(latex)) return null;
  const [first, ...more] = divide(latex.slice(1, -1), [',', ';']).map((part) => shapeOf(part, depth + 1));
  if (first === undefined || more.length === 0) return first ?? null;
  return { kind: 'tuple', open: latex.charAt(0), close: latex.slice(-1), items: [first, ...more] };
}

function readSet(inner: string, depth: number): Shape {
  const condition = SET_BUILDER.exec(inner)?.[1];
  if (condition !== undefined) return shapeOf(condition, depth + 1);
  return many(divide(inner, [',', ';']).map((part) => shapeOf(part, depth + 1)));
}

const MATRIX_CELLS = /^\\begin\{([pbvBV]?matrix|array)\}(?:\{[clr|\s]{0,40}\})?(.{0,2000})\\end\{\1\}$/;

function readMatrix(latex: string, depth: number): Shape | null {
  const body = MATRIX_CELLS.exec(latex)?.[2];
  if (body === undefined) return null;
  const rows = body.split('\\\\').filter((row) => row.trim() !== '');
  return matrix(rows.map((row) => matrix(row.split('&').map((cell) => shapeOf(cell, depth + 1)))));
}

function matrix(items: readonly Shape[]): Shape {
  return { kind: 'tuple', open: MATRIX, close: MATRIX, items };
}

/** `1 \pm \sqrt{2}` is two numbers. */
function readBothSigns(latex: string, depth: number): Shape | null {
  const parts = latex.split('\\pm');
  if (parts.length !== 2) return null;
  return many(['+', '-'].map((sign) => shapeOf(parts.join(sign).replace(/^\s?\+/, ''), depth + 1)));
}

const WORDS = /^[a-zA-Z]{2,30}(?:[\s-][a-zA-Z]{1,30}){1,12}$/;
const KNOWN_WORD =
  /^(?:yes|no|true|false|none|never|always|even|odd|undefined|impossible|diverges|converges)$/i;

function readWords(latex: string): Shape | null {
  const inner = /^\\text\{([^{}]{1,400})\}$/.exec(latex)?.[1]?.trim();
  if (inner !== undefined && !/^\d/.test(inner)) return { kind: 'words', text: normalizeText(inner) };
  const isText = WORDS.test(latex) || KNOWN_WORD.test(latex);
  return isText ? { kind: 'words', text: normalizeText(latex) } : null;
}

const DEGREES = /^(.{1,1900})\^\{\\circ\}\s?(?:\\text\{\s?[CF]\s?\}|[CF])?$/;
const OF_AN_ANGLE = /\\(?:circ|sin|cos|tan|cot|sec|csc)/;
const IN_BASE = /^(\d\w{0,400})_\{(\d{1,2})\}$/;
/** A unit behind a number: in `\text`, or a word; a single letter outside of it is a variable. */
const IN_TEXT = /^(.{1,1900}?)\s?\\text\{\s?([^{}]{1,60}?)\s?\}(\^\{[23]\})?$/;
const AS_WORD = /^(.{0,1900}[\d})])\s?((?:square |cubic )?[a-zA-Z]{2,20}(?:\^\{[23]\})?)$/;

function readScalar(latex: string): Shape {
  if (latex === '\\mathbb{R}') return interval('(', '-\\infty', '\\infty', ')', 0);
  if (latex.endsWith('%')) return scalar(latex.slice(0, -1), readUnit('%'));
  const angle = DEGREES.exec(latex)?.[1];
  if (angle !== undefined && !OF_AN_ANGLE.test(angle)) return scalar(angle, readUnit('degree'));
  const [, digits, base] = IN_BASE.exec(latex) ?? [];
  if (digits !== undefined && base !== undefined) {
    return scalar(digits, { dimension: `base ${base}`, factor: 1 });
  }
  return readMeasured(latex) ?? scalar(latex);
}

function readMeasured(latex: string): Scalar | null {
  const [, text, named, power = ''] = IN_TEXT.exec(latex) ?? [];
  if (text !== undefined && named !== undefined) return scalar(text, readUnit(named + power) ?? 'other');
  const [, number = '', word = ''] = AS_WORD.exec(latex) ?? [];
  const unit = readUnit(word);
  return unit === null ? null : scalar(number, unit);
}

function scalar(latex: string, unit: Scalar['unit'] = null): Scalar {
  return { kind: 'scalar', latex: latex.trim(), unit };
}

function withoutGroup(latex: string): string {
  return latex.startsWith('{') && isOnePair(latex) ? latex.slice(1, -1).trim() : latex;
}

/** Whether the bracket that a text begins with is closed by its last character. */
function isOnePair(latex: string): boolean {
  const depths = depthsOf(latex);
  return depths.at(-1) === 0 && depths.slice(0, -1).every((depth) => depth > 0);
}

/** How many brackets are open behind each character; what a backslash precedes is one as well. */
function depthsOf(latex: string): number[] {
  let depth = 0;
  return Array.from({ length: latex.length }, (_, at) => {
    const character = latex.charAt(at);
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    return depth;
  });
}

function divide(latex: string, separators: readonly string[]): string[] {
  return divideBy(latex, separators).parts;
}

/** Divides a text where such a separator stands outside of all brackets. */
function divideBy<Separator extends string>(
  latex: string,
  separators: readonly Separator[],
): { parts: string[]; operators: Separator[] } {
  const depths = depthsOf(latex);
  const operators: Separator[] = [];
  const parts: string[] = [];
  let from = 0;
  let environments = 0;
  for (let at = 0; at < latex.length; at += 1) {
    if (latex.startsWith('\\begin{', at)) environments += 1;
    if (latex.startsWith('\\end{', at)) environments -= 1;
    if (depths[at] !== 0 || environments > 0) continue;
    const found = separators.find((each) => latex.startsWith(each, at) && !isLonger(latex, at, each));
    if (found === undefined) continue;
    parts.push(latex.slice(from, at).trim());
    operators.push(found);
    from = at + found.length;
    at = from - 1;
  }
  parts.push(latex.slice(from).trim());
  return { parts, operators };
}

/** `\in` is no beginning of `\infty`. */
function isLonger(latex: string, at: number, separator: string): boolean {
  return separator.startsWith('\\') && /[a-zA-Z]/.test(latex.charAt(at + separator.length));
}
