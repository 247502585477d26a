import { normalizeText } from '../read-answer';
import { readUnit, type Unit } from '../units';
import { normalizeMath } from './normalize';

/** What an answer of mathematics is made of; its leaves are normalised LaTeX. */
export type Shape =
  | Scalar
  | { readonly kind: 'words'; readonly text: string }
  /** In any order: a list, a set, a union. */
  | { readonly kind: 'many'; readonly items: readonly Shape[] }
  /** In this order: a point, a vector, an interval. */
  | {
      readonly kind: 'tuple';
      readonly open: string;
      readonly close: string;
      readonly items: readonly Shape[];
    }
  | { readonly kind: 'matrix'; readonly rows: readonly (readonly Shape[])[] }
  | Relation;

export interface Scalar {
  readonly kind: 'scalar';
  readonly latex: string;
  /** `other`: words that are no unit of ours. */
  readonly unit: Unit | 'other' | null;
}

export interface Relation {
  readonly kind: 'relation';
  readonly operator: Operator;
  readonly left: string;
  readonly right: string;
  /** What stands on the right where the left is one name, as in `x = 3` or `f(x) = 2x`. */
  readonly value: Shape | null;
}

export type Operator = '=' | '<' | '\\le' | '\\ne';

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

function readRelation(latex: string, depth: number): Shape | null {
  const { parts, operators } = divideBy(latex, OPERATORS);
  const [left = '', middle = '', right = ''] = parts;
  const [first, second] = operators;
  if (first === undefined) return null;
  if (first === '\\in') return shapeOf(middle, depth + 1);
  if (first === '\\approx' && !NAME.test(left)) return shapeOf(left, depth + 1);
  const isChain = operators.length === 2 && second !== undefined && VARIABLE.test(middle);
  if (isChain) return between([left, first], [right, second], depth);
  if (operators.every((each) => each === '=' || each === '\\approx')) return equation(left, parts.at(-1) ?? '', depth);
  return operators.length > 1 ? scalar(latex) : inequality(left, first, middle, depth);
}

function equation(left: string, right: string, depth: number): Shape {
  const value = NAME.test(left) ? shapeOf(right, depth + 1) : null;
  return { kind: 'relation', operator: '=', left, right, value };
}

/** Of one variable it is an interval. */
function inequality(left: string, operator: string, right: string, depth: number): Shape {
  if (operator === '\\ne') return { kind: 'relation', operator, left, right, value: null };
  const isLess = operator === '<' || operator === '\\le';
  const isStrict = operator === '<' || operator === '>';
  const [small, large] = isLess ? [left, right] : [right, left];
  if (VARIABLE.test(small)) return interval('(', '-\\infty', large, isStrict ? ')' : ']', depth);
  if (VARIABLE.test(large)) return interval(isStrict ? '(' : '[', small, '\\infty', ')', depth);
  return { kind: 'relation', operator: isStrict ? '<' : '\\le', left: small, right: large, value: null };
}

/** `a < x \le b`, or the other way round. */
function between(
  [left, first]: readonly [string, string],
  [right, second]: readonly [string, string],
  depth: number,
): Shape {
  const open = first === '<' || first === '>' ? '(' : '[';
  const close = second === '<' || second === '>' ? ')' : ']';
  const mirrored = { ')': '(', ']': '[', '(': ')', '[': ']' } as const;
  return first === '>' || first === '\\ge'
    ? interval(mirrored[close], right, left, mirrored[open], depth)
    : interval(open, left, right, close, depth);
}

function interval(open: string, from: string, to: string, close: string, depth: number): Shape {
  return { kind: 'tuple', open, close, items: [shapeOf(from, depth + 1), shapeOf(to, depth + 1)] };
}

const SET_BUILDER = /^[a-zA-Z]\s?(?:\\in\s?\\mathbb\{R\}\s?)?(?:\\mid|\\vert|:|\|)\s?(.{1,2000})$/;

function readBracketed(latex: string, depth: number): Shape | null {
  if (latex === '\\emptyset') return { kind: 'many', items: [] };
  if (latex.startsWith('\\{') && latex.endsWith('\\}')) {
    const inner = latex.slice(2, -2);
    const condition = SET_BUILDER.exec(inner.trim())?.[1];
    if (condition !== undefined) return shapeOf(condition, depth + 1);
    return many(divide(inner, [',', ';']).map((part) => shapeOf(part, depth + 1)));
  }
  const [open = '', close = ''] = [latex[0], latex.at(-1)];
  if (!'(['.includes(open) || !')]'.includes(close) || open === '' || !isOnePair(latex)) return null;
  const parts = divide(latex.slice(1, -1), [',', ';']);
  const [only = ''] = parts;
  if (parts.length === 1) return shapeOf(only, depth + 1);
  return { kind: 'tuple', open, close, items: parts.map((part) => shapeOf(part, depth + 1)) };
}

const MATRIX = /^\\begin\{([pbvBV]?matrix|array)\}(?:\{[clr|\s]{0,40}\})?(.{0,2000})\\end\{\1\}$/;

function readMatrix(latex: string, depth: number): Shape | null {
  const body = MATRIX.exec(latex)?.[2];
  if (body === undefined) return null;
  const rows = body.split('\\\\').filter((row) => row.trim() !== '');
  return { kind: 'matrix', rows: rows.map((row) => row.split('&').map((cell) => shapeOf(cell, depth + 1))) };
}

/** `1 \pm \sqrt{2}` is two numbers. */
function readBothSigns(latex: string, depth: number): Shape | null {
  const parts = latex.split('\\pm');
  if (parts.length !== 2) return null;
  return many(['+', '-'].map((sign) => shapeOf(parts.join(sign).replace(/^\s?\+/, ''), depth + 1)));
}

const WORDS = /^[a-zA-Z]{2,30}(?:[\s-][a-zA-Z]{1,30}){1,12}$/;
const KNOWN_WORD = /^(?:yes|no|true|false|none|never|always|even|odd|undefined|impossible|diverges|converges)$/i;

function readWords(latex: string): Shape | null {
  const inner = /^\\text\{([^{}]{1,400})\}$/.exec(latex)?.[1]?.trim();
  if (inner !== undefined && !/^\d/.test(inner)) return { kind: 'words', text: normalizeText(inner) };
  const isText = WORDS.test(latex) || KNOWN_WORD.test(latex);
  return isText ? { kind: 'words', text: normalizeText(latex) } : null;
}

/** A unit behind a number: in `\text`, or a word; a single letter outside of it is a variable. */
const IN_TEXT = /^(.{1,1900}?)\s?\\text\{\s?([^{}]{1,60}?)\s?\}(\^\{[23]\})?$/;
const AS_WORD = /^(.{0,1900}[\d})])\s?((?:square |cubic )?[a-zA-Z]{2,20}(?:\^\{[23]\})?)$/;

const DEGREES = /^(.{1,1900})\^\{\\circ\}\s?(?:\\text\{\s?[CF]\s?\}|[CF])?$/;
const OF_AN_ANGLE = /\\(?:circ|sin|cos|tan|cot|sec|csc)/;

function readScalar(latex: string): Shape {
  if (latex.endsWith('%')) return scalar(latex.slice(0, -1), readUnit('%'));
  const angle = DEGREES.exec(latex)?.[1];
  if (angle !== undefined && !OF_AN_ANGLE.test(angle)) return scalar(angle, readUnit('degree'));
  const base = /^(\w{1,400})_\{(\d{1,2})\}$/.exec(latex);
  if (base?.[1] !== undefined && /^\d/.test(base[1])) {
    return scalar(base[1], { dimension: `base ${base[2] ?? ''}`, factor: 1 });
  }
  const [, text, named, power = ''] = IN_TEXT.exec(latex) ?? [];
  if (text !== undefined && named !== undefined) return scalar(text, readUnit(named + power) ?? 'other');
  const [, number, word] = AS_WORD.exec(latex) ?? [];
  const unit = word === undefined ? null : readUnit(word);
  return number === undefined || unit === null ? scalar(latex) : scalar(number, unit);
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
