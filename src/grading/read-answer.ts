/**
 * Extracts the final answer from a text for all graders. Texts come from a model and may be hostile: long runs of
 * blanks or combining marks are shortened before a pattern reads them, and every pattern is linear in the rest.
 */

/**
 * Returns the part of a reply that is graded: the text in its last `<answer>` tag, or else the whole reply. An
 * unclosed tag reaches to the end, so that an answer cut off at its length limit is graded by what is there.
 */
export function answerTextOf(reply: string): string {
  const [, ...tagged] = reply.split(/<answer>/i);
  return (tagged.at(-1)?.split(/<\/answer>/i)[0] ?? reply).trim();
}

/** Returns whether a reply contains an `<answer>` tag. */
export function isTagged(reply: string): boolean {
  return /<answer>/i.test(reply);
}

/** Returns the text in the last `\boxed{…}`, else the rest of the line after the last `answer is`, else everything. */
export function finalAnswerOf(reply: string): string {
  const text = answerTextOf(reply);
  return boxedIn(text) ?? statementsIn(text).findLast((stated) => stated !== '') ?? text;
}

const BOX = '\\boxed';
/** Longest text read from a box; its closing brace is not searched for further away. */
const MOST_BOXED = 10_000;

export function boxedIn(text: string): string | null {
  const from = text.lastIndexOf(BOX);
  if (from === -1) return null;
  const open = text.slice(from + BOX.length, from + BOX.length + MOST_BOXED);
  const rest = open.trimStart();
  if (!rest.startsWith('{')) return /^[^\s$]{1,40}/.exec(rest)?.[0] ?? null;
  return rest.slice(1, closingOf(rest, 0, '{}') ?? rest.length).trim();
}

/** Returns the index at which a bracket is closed, or null. A character after a backslash is not a bracket. */
export function closingOf(text: string, from: number, brackets: '{}' | '()'): number | null {
  const [open, close] = brackets;
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === open) depth += 1;
    else if (text[at] === close) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return null;
}

/** The word "answer" and its verb in languages that divide words by blanks. */
const IN_WORDS = String.raw`(?<![\p{L}\p{M}])(?:answer|antwort|réponse|respuesta|resposta|risposta|jawaban|ответ|उत्तर|الإجابة|উত্তর)\s{0,2}(?:(?:is|ist|est|es|é|è|adalah|है|هي)(?![\p{L}\p{M}])|[:：=]|ঃ)`;
/** The word and its verb in Chinese, Japanese and Korean. */
const IN_SIGNS = String.raw`(?:答案|答え|回答|정답|답)\s{0,2}(?:[是为為は은]|[:：])`;

/**
 * Words before a stated answer. The words for "answer" are those that simple-evals reads with a colon; "answer is" in
 * each language is our addition.
 */
export const STATED = new RegExp(String.raw`(?:${IN_WORDS}|${IN_SIGNS})\s{0,2}[:：]?`, 'giu');

/** Returns the text after each `answer is` or `answer:`, up to the line's end or the next one, without remarks. */
export function statementsIn(text: string): string[] {
  const plain = shortenBlanks(withoutRemarks(text)).replace(/\*\*/g, '');
  const [, ...stated] = plain.split(STATED);
  return stated.map((each) => each.split('\n', 1)[0]?.trim() ?? '');
}

/** Drops a remark in brackets after bold text: `**Answer: 204** (Checked with 3 methods.)`, but not `(or 205)`. */
export function withoutRemarks(text: string): string {
  return text.replace(/(?<=[^\s:*])\*\* {1,2}\((?!or\b)[^()\n]*\)/gi, '**');
}

/** Strips typesetting: `\boxed{…}` or `\text{…}` around it, `$`, back-ticks, bold marks. */
export function plainTextOf(text: string): string {
  const plain = text.replace(/[`$]|\*\*/g, '').trim();
  return /^\\(?:boxed|text|textbf|mathrm)\s*\{([^{}]*)\}\.?$/.exec(plain)?.[1]?.trim() ?? plain;
}

/** Strips typesetting, quotation marks and a final full stop, and converts to lower case unless case counts. */
export function normalizeText(text: string, caseSensitive = false): string {
  const plain = composed(plainTextOf(text))
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  return caseSensitive ? plain : plain.toLowerCase();
}

/** Converts to NFC, which takes quadratic time over a run of marks: keeps 30, the limit of UAX 15, section 13. */
export function composed(text: string): string {
  return text.replace(/\p{M}+/gu, (marks) => Array.from(marks).slice(0, 30).join('')).normalize('NFC');
}

/** Shortens runs of blanks to two, both of them line breaks if the run has any. */
export function shortenBlanks(text: string): string {
  return text.replace(/\s{3,}/g, (blanks) => (/[\n\r\u2028\u2029]/.test(blanks) ? '\n\n' : '  '));
}

/** Writes signs such as `½`, alone or after a whole number, as LaTeX: `2½` is `\frac{5}{2}`. */
export function withoutFractionSigns(text: string): string {
  return text.replace(
    /(?<!\d)(?:(\d{1,15})\s?)?([¼-¾⅐-⅞])/g,
    (_, whole: string | undefined, sign: string) => {
      const [over = '', under = ''] = sign.normalize('NFKD').split('⁄');
      return `\\frac{${BigInt(whole ?? 0) * BigInt(under) + BigInt(over)}}{${under}}`;
    },
  );
}
