import { normalizeText } from '../read-answer';
import { readUnit, type Unit } from '../units';
import { normalizeMath } from './normalize';

/** Structure of a mathematical answer; its leaves are normalised LaTeX. */
export type Shape =
  | Scalar
  | { readonly kind: 'words'; readonly text: string }
  /** Items in any order: a list, a set, a union. */
  | { readonly kind: 'many'; readonly items: readonly Shape[] }
  | Tuple
  | {
      readonly kind: 'relation';
      readonly operator: '=' | '<' | '\\le' | '\\ne';
      readonly left: string;
      readonly right: string;
      /** Right side if the left one is a name, as in `x = 3` or `f(x) = 2x`: the relation says no more than that. */
      readonly value: Shape | null;
      /** Right side that an answer such as `m + n = 293` comes to; null for an inequality. */
      readonly result: Shape | null;
    };

/** Items in a fixed order: a point, a vector, an interval, a matrix with its rows. */
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
  /** `other`: words that are not a known unit. */
  readonly unit: Unit | 'other' | null;
}

const MOST_NESTED = 20;

/** Reads an answer, or a right answer; anything that is not understood becomes a scalar. */
export function readShape(text: string): Shape {
  return shapeOf(normalizeMath(text), 0);
}

function shapeOf(text: string, depth: number): Shape {
  const whole = text.trim();
  const latex = whole.startsWith('{') && isOnePair(whole) ? whole.slice(1, -1).trim() : whole;
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

/** Reads a list without brackets, or a union. */
function readMany(latex: string, depth: number): Shape | null {
  const thousands = THOUSANDS.exec(latex)?.[0];
  if (thousands !== undefined) {
    const joined = thousands.replaceAll(',', '') + latex.slice(thousands.length);
    return shapeOf(joined, depth + 1);
  }
  const listed = divideBy(latex, [',', ';']).parts;
  const parts = listed.length > 1 ? listed : divideBy(latex, ['\\cup']).parts;
  if (parts.length < 2) return null;
  return many(parts.map((part) => shapeOf(part, depth + 1)));
}

function many(items: readonly Shape[]): Shape {
  const flat = items.flatMap((item) => (item.kind === 'many' ? item.items : [item]));
  const [first] = flat;
  return first !== undefined && flat.length === 1 ? first : { kind: 'many', items: flat };
}

const OPERATORS = ['=', '<', '>', '\\le', '\\ge', '\\ne', '\\in', '\\approx'];
const NAME =
  /^(?:[a-zA-Z]|\([a-z](?:, ?[a-z]){1,4}\)|\\[a-zA-Z]{2,12}|\\text\{[^{}]{0,60}\})(?:_\{\w{1,9}\})?\s?(?:\([a-zA-Z](?:, ?[a-zA-Z]){0,4}\))?$/;
const VARIABLE = /^[a-zA-Z]$/;

/** Parts between the signs of `1 < x < 2`, and the signs. */
interface Divided {
  readonly parts: readonly string[];
  readonly operators: readonly string[];
}

/** Reads an equation, an inequality, or the set of `x \in A`; any other relation becomes one scalar. */
function readRelation(latex: string, depth: number): Shape | null {
  const divided = divideBy(latex, OPERATORS);
  const [first] = divided.operators;
  if (first === undefined) return null;
  if (first === '\\in') return shapeOf(divided.parts[1] ?? '', depth + 1);
  const isEquation = divided.operators.every((each) => each === '=' || each === '\\approx');
  return isEquation ? readEquation(divided, depth) : (readInequality(divided, depth) ?? scalar(latex));
}

/** Takes the last part of `x = 6/2 = 3`, and the first of `1/3 \approx 0.33`. */
function readEquation({ parts, operators }: Divided, depth: number): Shape {
  const [left = ''] = parts;
  const isNamed = NAME.test(left);
  if (operators[0] === '\\approx' && !isNamed) return shapeOf(left, depth + 1);
  const right = parts.at(-1) ?? '';
  const result = shapeOf(right, depth + 1);
  return { kind: 'relation', operator: '=', left, right, value: isNamed ? result : null, result };
}

const TURNED: Readonly<Record<string, string>> = { '>': '<', '\\ge': '\\le' };

/** Returns null for a chain that mixes `<` and `>`, or is too long. */
function readInequality({ parts, operators }: Divided, depth: number): Shape | null {
  if (operators.join() === '\\ne') return unequal('\\ne', parts);
  if (operators.length > 2) return null;
  if (operators.every((each) => each === '<' || each === '\\le')) return readUpwards(parts, operators, depth);
  const turned = operators.flatMap((each) => TURNED[each] ?? []).toReversed();
  return turned.length < operators.length ? null : readUpwards(parts.toReversed(), turned, depth);
}

/** Reads a chain in ascending order. */
function readUpwards(parts: readonly string[], signs: readonly string[], depth: number): Shape | null {
  const [left = '', middle = '', right] = parts;
  const open = signs[0] === '<' ? '(' : '[';
  const close = signs.at(-1) === '<' ? ')' : ']';
  if (right !== undefined) return VARIABLE.test(middle) ? interval(open, left, right, close, depth) : null;
  if (VARIABLE.test(left)) return interval('(', '-\\infty', middle, close, depth);
  if (VARIABLE.test(middle)) return interval(open, left, '\\infty', ')', depth);
  return unequal(open === '(' ? '<' : '\\le', parts);
}

function unequal(operator: '<' | '\\le' | '\\ne', [left = '', right = '']: readonly string[]): Shape {
  return { kind: 'relation', operator, left, right, value: null, result: null };
}

function interval(open: string, from: string, to: string, close: string, depth: number): Shape {
  return { kind: 'tuple', open, close, items: [shapeOf(from, depth + 1), shapeOf(to, depth + 1)] };
}

const SET_BUILDER = /^[a-zA-Z]\s?(?:\\in\s?\\mathbb\{R\}\s?)?(?:\\mid|\\vert|:|\|)\s?(.{1,2000})$/;

function readBracketed(latex: string, depth: number): Shape | null {
  if (latex === '\\emptyset') return { kind: 'many', items: [] };
  if (latex.startsWith('\\{') && latex.endsWith('\\}')) return readSet(latex.slice(2, -2).trim(), depth);
  if (!/^[([]/.test(latex) || !/[)\]]$/.test(latex) || !isOnePair(latex)) return null;
  const [first, ...more] = divideBy(latex.slice(1, -1), [',', ';']).parts.map((part) =>
    shapeOf(part, depth + 1),
  );
  if (first === undefined || more.length === 0) return first ?? null;
  return { kind: 'tuple', open: latex.charAt(0), close: latex.slice(-1), items: [first, ...more] };
}

function readSet(inner: string, depth: number): Shape {
  const condition = SET_BUILDER.exec(inner)?.[1];
  if (condition !== undefined) return shapeOf(condition, depth + 1);
  return many(divideBy(inner, [',', ';']).parts.map((part) => shapeOf(part, depth + 1)));
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

/** Reads `1 \pm \sqrt{2}` as two numbers. */
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
/** Unit after a number, in `\text` or as a word; a single letter outside `\text` is a variable. */
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

/** Returns whether the bracket that a text begins with is closed by its last character. */
function isOnePair(latex: string): boolean {
  const depths = tokensOf(latex).map(({ depth }) => depth);
  return depths.at(-1) === 0 && depths.slice(0, -1).every((depth) => depth > 0);
}

/** Splits a text at separators outside all brackets. */
function divideBy(latex: string, separators: readonly string[]): Divided {
  const operators: string[] = [];
  const parts: string[] = [];
  let part = '';
  for (const { token, depth } of tokensOf(latex)) {
    if (depth === 0 && separators.includes(token)) {
      operators.push(token);
      parts.push(part.trim());
      part = '';
    } else part += token;
  }
  return { parts: [...parts, part.trim()], operators };
}

/** Returns commands and characters, each with the number of brackets and environments open after it. */
function tokensOf(latex: string): { readonly token: string; readonly depth: number }[] {
  let depth = 0;
  return (latex.match(/\\(?:begin|end)\{|\\[a-zA-Z]+|\\?[\s\S]/g) ?? []).map((token) => {
    if (token === '\\begin{') depth += 2;
    else if (token !== '\\end{' && /[([{]$/.test(token)) depth += 1;
    else if (/[)\]}]$/.test(token)) depth -= 1;
    return { token, depth };
  });
}
