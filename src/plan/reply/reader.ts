import type { PlanErrorCode } from '../plan-error';

/** Cursor over a text. It never moves back, so that a reply of any size and content is read in linear time. */
export class ReplyReader {
  constructor(
    readonly text: string,
    private position = 0,
    private readonly end = text.length,
  ) {}

  get at(): number {
    return this.position;
  }

  /** Returns the character `ahead` of the position, or '' past the end. */
  peek(ahead = 0): string {
    const index = this.position + ahead;
    return index < this.end ? this.text.charAt(index) : '';
  }

  advance(count = 1): void {
    this.position = Math.min(this.position + count, this.end);
  }

  skip(accepts: (character: string) => boolean): void {
    for (let next = this.peek(); next !== '' && accepts(next); next = this.peek()) this.advance();
  }

  /** Skips white space, stray back-ticks and comments. */
  skipBlank(): void {
    for (;;) {
      this.skip((character) => isSpace(character) || character === '`');
      if (!this.startsComment()) return;
      this.skip((character) => character !== '\n');
    }
  }

  /** Whether a Python or JavaScript comment begins `ahead` characters from here. */
  startsComment(ahead = 0): boolean {
    return this.peek(ahead) === '#' || (this.peek(ahead) === '/' && this.peek(ahead + 1) === '/');
  }

  /** Skips the match of a sticky pattern at the position and returns it, or null. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text);
    if (match !== null) this.advance(match[0].length);
    return match;
  }

  /** Whether a sticky pattern matches `ahead` characters from here. */
  stands(pattern: RegExp, ahead = 0): boolean {
    pattern.lastIndex = this.position + ahead;
    return pattern.test(this.text);
  }
}

/** Whether a character is Unicode white space; false for ''. */
export function isSpace(character: string): boolean {
  return character !== '' && character.trim() === '';
}

/** Reason why a list cannot be read. Only the one that decides the outcome becomes a `PlanError`. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';

  constructor(
    readonly code: PlanErrorCode,
    readonly problem: string,
    /** Index in the reply. */
    readonly at: number,
  ) {
    super(problem);
  }
}

// Regular expressions that scan a model's reply. Their quantifiers all have an upper bound, so that one match takes
// constant time and reading a reply takes linear time.

/** Names that models give the lists. Groups: model_id, subtasks, access_list, steps (our JSON shape). */
const LABEL = '(model[ _]?ids?)|(sub[ _]?tasks?)|(access(?:[ _]?lists?)?)|(steps)';

/** The next label. */
export const MARK = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${LABEL})(?![\\p{L}\\p{N}_])`, 'giu');

/** Label that starts another list. If it comes where an entry should be, a bracket was never closed. */
export const LABEL_AHEAD = new RegExp(
  `(?:"(?:${LABEL})"|'(?:${LABEL})'|[*\`]{0,3}(?:${LABEL})[*\`]{0,3})[ \\t]{0,8}[:=]`,
  'iy',
);

/** Marks that may follow a list's bracket on its line: punctuation, and brackets of a JSON object or of prose. */
export const MARKS_BEHIND = /[ \t\r,;.|)}\]*`_]{0,40}/y;

/** What may follow those marks: the line's end, a tag, or a name and its value, such as another list. */
export const NEXT_FIELD = /$|\n|<|["'*`]{0,3}[a-z_]{1,30}["'*`]{0,3}[ \t]{0,8}[:=]/iy;

/** `all` as a complete access list, at the end of its line. */
export const ALL_ALONE = /["'“‘]?all["'”’]?[ \t]{0,8}[,}`]{0,3}[ \t]{0,8}(?=\r?\n|$)/iy;

/** Start of an item of a bulleted or numbered list. */
export const BULLET = /(?:[-*•]|\d{1,5}[.)])[ \t]{1,16}/y;

/** Unquoted text that must be an entry: a number, a word of an access list, or a JavaScript key. */
export const BARE_ENTRY = /(?:-?\d{1,9}|all|none|null)\s{0,8}[,\]}]|[a-z_]{1,16}[ \t]{0,8}:/iy;

/** Numeric escape without its backslash. */
export const NUMBERED_ESCAPE = /u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})/y;

/** Number that can be an ordinal or a step index. */
export const ORDINAL = /^\d{1,9}$/;
