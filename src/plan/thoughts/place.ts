/** How a tag stands in a text: as a tag, or as a word in code, between quotes, or within a sentence. */
export type Standing = 'tag' | 'fenced' | 'quoted' | 'mentioned';

const OPENING_QUOTE = /(?:^|[^\p{L}\p{N}])["'`“„‘«(*_]$/u;
const CLOSING_QUOTE = /^["'`”’»)*_](?:[^\p{L}\p{N}]|$)/u;
const PUNCTUATION = /^(?:[,.;:!?)\]}](?:\s|$)|[、。，：；！？）])/u;
/** A sentence that goes on after a blank. */
const GOES_ON = /^[ \t]{1,40}[\p{Ll}\p{Lo}]/u;
const FENCE = /^[ \t>]{0,30}(?:```|~~~)/;
const INDENTED = /^(?: {4}|\t)[ \t]{0,36}$/;

/** Characters of a line's start that are kept. */
const START = 40;

/** Characters behind a tag that decide how it stands in its text. */
export const MOST_AHEAD = 200;

/** Position in a text, with the line and the code that it is in. */
export class TextPosition {
  private lineStart = '';
  /** Last characters of the line before this position. */
  private before = '';
  private ticks = 0;
  private hasOpenFence = false;

  get isFenced(): boolean {
    return this.hasOpenFence;
  }

  /** Moves behind a text. */
  pass(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) {
        if (FENCE.test(this.lineStart)) this.hasOpenFence = !this.hasOpenFence;
        [this.lineStart, this.before, this.ticks] = ['', '', 0];
      }
      if (this.lineStart.length < START) this.lineStart = (this.lineStart + line).slice(0, START);
      this.before = (this.before + line.slice(-4)).slice(-4);
      this.ticks += line.split('`').length - 1;
    }
  }

  /** Whether what follows a tag here is enough to decide how it stands. */
  isSettled(ahead: string): boolean {
    if (ahead.length >= MOST_AHEAD) return true;
    return ahead.trimStart().length > 2 && (!this.isInCode || /[`\n]/.test(ahead));
  }

  /** Decides how a tag stands here, by what follows it. */
  standing(ahead: string): Standing {
    if (this.hasOpenFence) return 'fenced';
    if (this.isInCode && /^[^\n]{0,200}`/.test(ahead)) return 'quoted';
    if (OPENING_QUOTE.test(this.before) && CLOSING_QUOTE.test(ahead)) return 'quoted';
    return this.isInSentence(ahead) ? 'mentioned' : 'tag';
  }

  /** Whether a back-tick of this line is not closed yet. */
  private get isInCode(): boolean {
    return this.ticks % 2 === 1;
  }

  private isInSentence(ahead: string): boolean {
    if (PUNCTUATION.test(ahead) || INDENTED.test(this.lineStart)) return true;
    if (/(?:^|[ \t])$/.test(this.before) && GOES_ON.test(ahead)) return true;
    // Some scripts write no blanks between words.
    if (/\p{Lo}$/u.test(this.before) && /^\p{Lo}/u.test(ahead)) return true;
    return /[^ \t][ \t]{1,3}$/.test(this.before) && ahead.trim() === '';
  }
}
