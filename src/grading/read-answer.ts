/**
 * What a text settles on, before any grader looks at it. The texts are a model's and may be hostile: no run of blanks or
 * of marks is longer than a few when a pattern meets it, and every pattern is linear in what is left.
 */

/**
 * The part of a reply that is graded: what stands in its last `<answer>` tag, else the whole of it. A tag that was never
 * closed reaches to the end, so that an answer cut at its length limit is judged by what is there.
 */
export function answerTextOf(reply: string): string {
  const [, ...tagged] = reply.split(/<answer>/i);
  return (tagged.at(-1)?.split(/<\/answer>/i)[0] ?? reply).trim();
}

/** Whether a reply says in a tag what its answer is. */
export function isTagged(reply: string): boolean {
  return /<answer>/i.test(reply);
}

/** What stands in the last `\boxed{…}` of an answer, else behind its last `answer is` on that line, else all of it. */
export function finalAnswerOf(reply: string): string {
  const text = answerTextOf(reply);
  return boxedIn(text) ?? statementsIn(text).findLast((stated) => stated !== '') ?? text;
}

const BOX = '\\boxed';
/** Longer ones are no answer to anything, and no brace is looked for further away. */
const MOST_BOXED = 10_000;

export function boxedIn(text: string): string | null {
  const from = text.lastIndexOf(BOX);
  if (from === -1) return null;
  const open = text.slice(from + BOX.length, from + BOX.length + MOST_BOXED);
  const rest = open.trimStart();
  if (!rest.startsWith('{')) return /^[^\s$]{1,40}/.exec(rest)?.[0] ?? null;
  return rest.slice(1, closingOf(rest, 0, '{}') ?? rest.length).trim();
}

/** Where the bracket at a place is closed; null where it never is. What a backslash precedes is none. */
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

const STATED = /\banswer\s{0,2}(?:is\b|:|=)\s{0,2}:?/gi;

/** Finds the text behind each `answer is` or `answer:`, up to the end of its line or the next of them, without remarks. */
export function statementsIn(text: string): string[] {
  const plain = shortenBlanks(withoutRemarks(text)).replace(/\*\*/g, '');
  const [, ...stated] = plain.split(STATED);
  return stated.map((each) => each.split('\n', 1)[0]?.trim() ?? '');
}

/** Drops what stands in brackets behind bold text, unless it is another answer: `**Answer: 204** (Checked with 3 methods.)`. */
export function withoutRemarks(text: string): string {
  return text.replace(/(?<=[^\s:*])\*\* {1,2}\((?!or\b)[^()\n]*\)/gi, '**');
}

/** Strips typesetting: `\boxed{…}` or `\text{…}` around it, `$`, back-ticks, bold marks. */
export function plainTextOf(text: string): string {
  const plain = text.replace(/[`$]|\*\*/g, '').trim();
  return /^\\(?:boxed|text|textbf|mathrm)\s*\{([^{}]*)\}\.?$/.exec(plain)?.[1]?.trim() ?? plain;
}

/** A text for comparison: without typesetting, quotation marks and a last full stop, in lower case unless case counts. */
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

/** In NFC, which takes quadratic time over a run of marks: 30 are as many as UAX 15, section 13, allows. */
export function composed(text: string): string {
  return text.replace(/\p{M}+/gu, (marks) => Array.from(marks).slice(0, 30).join('')).normalize('NFC');
}

/** Leaves at most two blanks in a row, a line break among them where there was one. */
export function shortenBlanks(text: string): string {
  return text.replace(/\s{3,}/g, (blanks) => (/[\n\r\u2028\u2029]/.test(blanks) ? '\n\n' : '  '));
}
