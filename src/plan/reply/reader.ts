import type { PlanErrorCode } from '../plan-error';

/** Walks over a text. Its position never moves back, so that a reply of any size and content is read in linear time. */
export class Reader {
  constructor(
    readonly text: string,
    private position = 0,
    private readonly end = text.length,
  ) {}

  get at(): number {
    return this.position;
  }

  /** The character at the position or so many ahead of it; '' past the end. */
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

  /** Whether a comment of Python or JavaScript begins here or so many characters ahead. */
  startsComment(ahead = 0): boolean {
    return this.peek(ahead) === '#' || (this.peek(ahead) === '/' && this.peek(ahead + 1) === '/');
  }

  /** Skips what a sticky pattern matches here, and returns the match. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text);
    if (match !== null) this.advance(match[0].length);
    return match;
  }

  /** Whether a sticky pattern matches here or so many characters ahead. */
  stands(pattern: RegExp, ahead = 0): boolean {
    pattern.lastIndex = this.position + ahead;
    return pattern.test(this.text);
  }
}

/** White space as Unicode has it; false for ''. */
export function isSpace(character: string): boolean {
  return character !== '' && character.trim() === '';
}

/** Why a list cannot be read. Only the one that decides the outcome becomes a `PlanError`, with the line at fault. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';

  constructor(
    readonly code: PlanErrorCode,
    readonly problem: string,
    /** Where in the reply. */
    readonly at: number,
  ) {
    super(problem);
  }
}

// Every regular expression that meets a model's reply. None holds a quantifier without an upper bound, so that one
// match costs constant time and reading a reply costs linear time.

/** The names that models give the lists. Groups: model_id, subtasks, access_list, steps (our JSON shape). */
const LABEL = '(model[ _]?ids?)|(sub[ _]?tasks?)|(access(?:[ _]?lists?)?)|(steps)';

/** The next label, or a tag that opens or closes a reasoning block (group 1: its slash). */
export const MARK = new RegExp(
  `<(/?)(?:think|thinking|reasoning)>|(?<![\\p{L}\\p{N}_])(?:${LABEL})(?![\\p{L}\\p{N}_])`,
  'giu',
);

/** A label that begins a list of its own: where an entry should be, it shows that a bracket was never closed. */
export const LABEL_AHEAD = new RegExp(
  `(?:"(?:${LABEL})"|'(?:${LABEL})'|[*\`]{0,3}(?:${LABEL})[*\`]{0,3})[ \\t]{0,8}[:=]`,
  'iy',
);

/** `all` as the whole of an access list, at the end of its line. */
export const ALL_ALONE = /["'“‘]?all["'”’]?[ \t]{0,8}[,}`]{0,3}[ \t]{0,8}(?=\r?\n|$)/iy;

/** Beginning of an item of a bulleted or numbered list. */
export const BULLET = /(?:[-*•]|\d{1,5}[.)])[ \t]{1,16}/y;

/** An entry without quotes that is surely one: a number, a word of an access list, a key as in JavaScript. */
export const BARE_ENTRY = /(?:-?\d{1,9}|all|none|null)\s{0,8}[,\]}]|[a-z_]{1,16}[ \t]{0,8}:/iy;

/** The part of an escape that follows its back-slash, where it spells a character by number. */
export const NUMBERED_ESCAPE = /u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})/y;

/** A number that can be an ordinal or a step index. */
export const ORDINAL = /^\d{1,9}$/;
