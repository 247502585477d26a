import type { PlanErrorCode } from '../plan-error';

/**
 * Walks over a text from left to right. Its position never moves back: whatever is read, is read once, and a reply of
 * any size and content is read in linear time.
 */
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

  /** Passes over the characters that are accepted. */
  skip(accepts: (character: string) => boolean): void {
    for (let next = this.peek(); next !== '' && accepts(next); next = this.peek()) this.advance();
  }

  /** Passes over what a sticky pattern matches here, and returns the match. */
  take(pattern: RegExp): RegExpExecArray | null {
    const match = this.match(pattern, 0);
    if (match !== null) this.advance(match[0].length);
    return match;
  }

  /** Whether a sticky pattern matches here or so many characters ahead. */
  stands(pattern: RegExp, ahead = 0): boolean {
    return this.match(pattern, ahead) !== null;
  }

  private match(pattern: RegExp, ahead: number): RegExpExecArray | null {
    pattern.lastIndex = this.position + ahead;
    return pattern.exec(this.text);
  }
}

/** White space as Unicode has it; false for ''. */
export function isSpace(character: string): boolean {
  return character !== '' && character.trim() === '';
}

/** Whether a comment of Python or JavaScript begins here. */
export function startsComment(reader: Reader): boolean {
  return reader.peek() === '#' || (reader.peek() === '/' && reader.peek(1) === '/');
}

/** Passes over what means nothing inside a list: white space, stray back-ticks and comments. */
export function skipBlank(reader: Reader): void {
  for (;;) {
    reader.skip((character) => isSpace(character) || character === '`');
    if (!startsComment(reader)) return;
    reader.skip((character) => character !== '\n');
  }
}

/**
 * Why a list cannot be read. It stays inside this folder and becomes a `PlanError` only if it decides the outcome: a
 * message shows the line at fault, and to look for the line of each of many broken drafts would take quadratic time.
 */
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
