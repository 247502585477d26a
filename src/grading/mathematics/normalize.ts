import { closingOf, withoutFractionSigns } from '../read-answer';

/** Longest text that counts as an answer to a question of mathematics. */
export const MOST_CHARACTERS = 2_000;

/** Returns whether answers can be compared with a right answer. */
export function isMathematics(right: string): boolean {
  return right.trim() !== '' && right.length <= MOST_CHARACTERS;
}

/** Brings mathematics to one spelling: `\dfrac12` is `\frac{1}{2}`, `sqrt(3)` is `\sqrt{3}`, `x^10` is `x^{10}`. */
export function normalizeMath(text: string): string {
  let plain = withoutFractionSigns(text.slice(0, MOST_CHARACTERS).normalize('NFC')).trim();
  plain = plain.replace(/^\*\*([^*]*)\*\*$/, '$1');
  plain = plain.replace(/[⁰¹²³⁴-⁹⁻]{1,20}/g, (powers) => {
    return `^{${Array.from(powers, (power) => '0123456789-'['⁰¹²³⁴⁵⁶⁷⁸⁹⁻'.indexOf(power)]).join('')}}`;
  });
  for (const [pattern, latex] of SPELLINGS) plain = plain.replaceAll(pattern, latex);
  plain = withBraces(plain, /(?<![a-zA-Z\\])sqrt\s?\(/, '\\sqrt');
  plain = withBraces(plain, /\^\(/, '^');
  for (const [pattern, latex] of AFTERWARDS) plain = plain.replace(pattern, latex);
  return plain.replace(/\s{1,2000}/g, ' ').trim();
}

const SPELLINGS: readonly (readonly [string | RegExp, string])[] = [
  ['−', '-'],
  ['–', '-'],
  ['×', '\\times '],
  ['·', '\\cdot '],
  ['÷', '\\div '],
  ['±', '\\pm '],
  ['≤', '\\le '],
  ['≥', '\\ge '],
  ['≠', '\\ne '],
  ['≈', '\\approx '],
  ['∞', '\\infty '],
  ['π', '\\pi '],
  ['θ', '\\theta '],
  ['°', '^{\\circ}'],
  ['∪', '\\cup '],
  ['∈', '\\in '],
  ['∅', '\\emptyset '],
  ['ℝ', '\\mathbb{R}'],
  ['√(', 'sqrt('],
  [/√\s?([a-zA-Z\d]{1,20})/g, '\\sqrt{$1}'],
  // Marks around mathematics, and currency, which is a unit that may be left out.
  [/(?<!\\)\\!/g, ''],
  [/(?<!\\)\\[()[\]]|\\?[$€£¥]|`/g, ' '],
  [/\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits)(?![a-zA-Z])\.?/g, ''],
  [/\{,\}(?=\d{3}(?!\d))/g, ''],
  [/(\d)\{,\}(?=\d)/g, '$1.'],
  [/(\d)(?:\\[,;:]|~|\\ )\s?(?=\d{3}(?!\d))/g, '$1'],
  [/(?<!\\)\\[,;: ]|~|\\q?quad(?![a-zA-Z])/g, ' '],
  [/\\[dtc]frac(?![a-zA-Z])/g, '\\frac'],
  [/\\[dt]binom(?![a-zA-Z])/g, '\\binom'],
  [/\\frac\s?(\d)\s?(\d)(?![}\d])/g, '\\frac{$1}{$2}'],
  [/\\frac\s?(\d)\s?(?=\{)/g, '\\frac{$1}'],
  [/(\\frac\{[^{}]{1,200}\})\s?(\d)/g, '$1{$2}'],
  [/\\sqrt\s?(\d)/g, '\\sqrt{$1}'],
  [/\\(?:mathbf|boldsymbol|vec|mathit|overrightarrow)\s?\{([^{}]{1,200})\}/g, '$1'],
  [/\\(?:mathrm|operatorname)\s?\{([a-zA-Z])\}/g, '$1'],
  [/\\(?:mathrm|mbox|textbf|textit|textrm|operatorname)\s?\{/g, '\\text{'],
  [/\\text\s?\{\s{0,9}(?:and|or)\s{0,9}\}/g, ' , '],
  [/(?<=[\s\d})])\s(?:and|or)\s/g, ' , '],
  [/\\(?:leqslant|leq|le)(?![a-zA-Z])|<=/g, '\\le '],
  [/\\(?:geqslant|geq|ge)(?![a-zA-Z])|>=/g, '\\ge '],
  [/\\(?:neq|ne)(?![a-zA-Z])|!=/g, '\\ne '],
  [/\\lt(?![a-zA-Z])/g, '<'],
  [/\\gt(?![a-zA-Z])/g, '>'],
  [/\\(?:infin|infty)(?![a-zA-Z])|(?<![a-zA-Z\\])(?:infinity|inf|oo)(?![a-zA-Z])/g, '\\infty '],
  [/\\(?:varnothing|emptyset)(?![a-zA-Z])|\\\{\s?\\\}/g, '\\emptyset'],
  [/\\(?:lbrace)(?![a-zA-Z])/g, '\\{'],
  [/\\(?:rbrace)(?![a-zA-Z])/g, '\\}'],
  [/\\(?:langle)(?![a-zA-Z])/g, '('],
  [/\\(?:rangle)(?![a-zA-Z])/g, ')'],
  [/\\%/g, '%'],
  [/\^\s?\\(?:circ|degree)(?![a-zA-Z])|\^\s?\{\s?\\circ\s?\}|\\degree(?![a-zA-Z])/g, '^{\\circ}'],
  [/\*\*/g, '^'],
  [/\\?\*|\\ast(?![a-zA-Z])/g, '\\cdot '],
];

const FUNCTIONS = 'arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln|exp|pi|min|max|gcd|lcm';

const AFTERWARDS: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`(?<![a-zA-Z\\{])(${FUNCTIONS})(?![a-z])`, 'g'), '\\$1 '],
  [/\^\s?(-?\d{1,400})(?!\d)/g, '^{$1}'],
  [/\^\s?-([a-zA-Z])/g, '^{-$1}'],
  [/_\s?(\w)(?!\w)/g, '_{$1}'],
  [/_\s?(\d{1,4})(?!\d)/g, '_{$1}'],
  [/[\s.,;:]{1,20}$/, ''],
];

/** Replaces each match by a command, and the brackets that follow it by braces. */
function withBraces(text: string, before: RegExp, command: string): string {
  let done = '';
  let rest = text;
  for (let match = before.exec(rest); match !== null; match = before.exec(rest)) {
    const open = match.index + match[0].length;
    const close = closingOf(rest, open - 1, '()');
    if (close === null) break;
    done += `${rest.slice(0, match.index)}${command}{`;
    rest = `${rest.slice(open, close)}}${rest.slice(close + 1)}`;
  }
  return done + rest;
}
