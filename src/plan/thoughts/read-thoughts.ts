import { MOST_AHEAD, TextPosition, type Standing } from './place';
import { findTag, type FoundTag, isTagBegun, tagBegunAt } from './tags';

/** A reply with its thoughts apart: together, they have every character of it but those of the tags. */
export interface Apart {
  readonly thoughts: string;
  readonly answer: string;
  /** The reply ends inside its thoughts. */
  readonly isOpen: boolean;
  /** A chat template wrote the opening tag, so that only the closing one shows where the thoughts end. */
  readonly isUnopened: boolean;
}

/** Piece of a reply. */
export interface Piece {
  readonly kind: 'thoughts' | 'answer';
  readonly text: string;
  /** Holds all earlier pieces again: they turned out to be thoughts. */
  readonly isAnew?: true;
}

/**
 * Takes the thoughts out of a reply: the blocks between tags at its beginning, one without its opening tag included.
 * Any other tag is part of the answer. In code, between quotes or within a sentence, a tag is only a word.
 */
export function readThoughts(reply: string): Apart {
  const reader = new ThoughtReader();
  const pieces = [...reader.push(reply), ...reader.end()];
  const anew = pieces.findIndex(({ isAnew }) => isAnew === true);
  const textOf = (wanted: Piece['kind']): string =>
    pieces
      .slice(Math.max(0, anew))
      .map(({ kind, text }) => (kind === wanted ? text : ''))
      .join('');
  const isUnopened = anew !== -1;
  return { thoughts: textOf('thoughts'), answer: textOf('answer'), isOpen: reader.isOpen, isUnopened };
}

/** Block that a reader is in. */
interface Block {
  /** Name of its tags; null: whatever tag is closed, since the block has no opening one. */
  readonly name: string | null;
  /** Tags that were opened within it and not closed, by their names. */
  readonly opened: Map<string, number>;
  /** Text from the first tag on that may have ended the block: it did, unless another one does. */
  doubtful: { readonly isFenced: boolean; readonly tag: string; readonly texts: string[] } | null;
}

/** Reads a reply as it arrives, wherever it is cut, in time linear in its length. */
export class ThoughtReader {
  /** `start`: a block or the answer follows. `unknown`: a closing tag may still show that this is a block. */
  private state: 'start' | 'block' | 'unknown' | 'answer' = 'start';
  private block: Block = { name: null, opened: new Map(), doubtful: null };
  private place = new TextPosition();
  /** Text that may be part of a tag, or decides how one stands. */
  private rest = '';
  /** What was returned as the answer although it is not known to be one. */
  private unknown: string[] = [];
  private hasTag = false;
  /** The answer is a message of gpt-oss, which ends with a tag. */
  private isMessage = false;

  /** @param expectsThoughts whether the model's replies were seen to begin with thoughts without an opening tag */
  constructor(private readonly expectsThoughts = false) {}

  get isOpen(): boolean {
    return this.state === 'block' && this.block.name !== null;
  }

  /** Takes more of the reply, and returns what is certain by now. */
  push(text: string): Piece[] {
    this.rest += text;
    return this.readAll(false);
  }

  /** Returns what is left at the end of the reply. */
  end(): Piece[] {
    const pieces = this.readAll(true);
    const { doubtful } = this.block;
    if (this.state !== 'block' || doubtful === null) return pieces;
    this.state = 'answer';
    const text = doubtful.texts.join('');
    const blanks = text.length - text.trimStart().length;
    return [...pieces, ...tell('thoughts', text.slice(0, blanks)), ...tell('answer', text.slice(blanks))];
  }

  private readAll(isEnd: boolean): Piece[] {
    const pieces: Piece[] = [];
    for (;;) {
      const more = this.readNext(isEnd);
      if (more === null) return pieces;
      pieces.push(...more);
    }
  }

  /** Reads up to the next tag, or past it. Returns null if there is nothing left that is certain. */
  private readNext(isEnd: boolean): Piece[] | null {
    if (this.rest === '') return null;
    if (this.state === 'start') return this.readStart(isEnd);
    return this.state === 'answer' ? this.readAnswer(isEnd) : this.readBlock(isEnd);
  }

  private readStart(isEnd: boolean): Piece[] | null {
    const blank = BLANK.exec(this.rest)?.[0] ?? '';
    const text = this.rest.slice(blank.length);
    const found = tagAtStart(text);
    const place = new TextPosition();
    if (found !== null) place.pass(blank);
    if (!isEnd && !isStartCertain(text, found, place)) return null;
    if (found === null || !mayStand(found, place.standing(aheadOf(text, found))))
      return this.leaveStart(blank);
    this.rest = text.slice(found.end);
    this.pass(found);
    if (found.kind === 'open') this.enter(found.name);
    return tell('thoughts', blank);
  }

  private readBlock(isEnd: boolean): Piece[] | null {
    const rest = this.rest;
    const found = findTag(rest);
    // A longer tag may hold the one that was found.
    const most = found?.at ?? rest.length;
    const before = isEnd ? most : tagBegunAt(rest, most);
    if (before > 0) return this.tell(before);
    if (found?.at !== 0 || !(isEnd || this.place.isSettled(aheadOf(rest, found)))) return null;
    return this.meet(found);
  }

  /** Goes on with what is no tag. Blanks between a tag and the answer are not part of the answer. */
  private leaveStart(blank: string): Piece[] {
    if (this.hasTag) {
      this.state = 'answer';
      this.rest = this.rest.slice(blank.length);
      return tell('thoughts', blank);
    }
    this.enter(null);
    if (!this.expectsThoughts) this.state = 'unknown';
    return [];
  }

  private enter(name: string | null): void {
    this.state = 'block';
    this.place = new TextPosition();
    this.block = { name, opened: new Map(), doubtful: null };
  }

  /** Passes a tag behind which a block or the answer begins. */
  private pass({ kind }: FoundTag): void {
    this.state = 'start';
    this.hasTag = true;
    this.isMessage ||= kind === 'answer';
  }

  private readAnswer(isEnd: boolean): Piece[] | null {
    const last = this.isMessage ? (LAST_TAG.exec(this.rest)?.index ?? this.rest.length) : this.rest.length;
    if (last === 0 && !isEnd) return null;
    const text = this.rest.slice(0, isEnd ? undefined : last);
    this.rest = this.rest.slice(text.length);
    return tell('answer', isEnd && this.isMessage ? text.replace(MESSAGE_END, '') : text);
  }

  /** Returns this many characters as what they are in this state. */
  private tell(length: number): Piece[] {
    const text = this.rest.slice(0, length);
    this.rest = this.rest.slice(length);
    this.place.pass(text);
    if (this.state === 'unknown') {
      this.unknown.push(text);
      return tell('answer', text);
    }
    const { doubtful } = this.block;
    if (doubtful === null) return tell('thoughts', text);
    doubtful.texts.push(text);
    // The tag stood in code, which has ended.
    return doubtful.isFenced && !this.place.isFenced ? this.tellDoubtful() : [];
  }

  private tellDoubtful(): Piece[] {
    const { doubtful } = this.block;
    this.block.doubtful = null;
    return doubtful === null ? [] : tell('thoughts', doubtful.tag + doubtful.texts.join(''));
  }

  /** Passes a tag within a block, or within what may be one. */
  private meet(found: FoundTag): Piece[] {
    const effect = this.effectOf(found, this.place.standing(aheadOf(this.rest, found)));
    if (effect === 'none' || (effect === 'doubtful' && this.block.doubtful !== null)) {
      return this.tell(found.text.length);
    }
    this.rest = this.rest.slice(found.end);
    if (effect === 'doubtful') {
      this.block.doubtful = { isFenced: this.place.isFenced, tag: found.text, texts: [] };
      this.place.pass(found.text);
      return [];
    }
    const anew: Piece = { kind: 'thoughts', text: this.unknown.join(''), isAnew: true };
    const pieces = this.state === 'unknown' ? [anew] : this.tellDoubtful();
    this.unknown = [];
    this.pass(found);
    return pieces;
  }

  private effectOf(found: FoundTag, standing: Standing): 'none' | 'ends' | 'doubtful' {
    const { kind, name, isToken } = found;
    const isTag = standing === 'tag' || (isToken && standing === 'mentioned');
    if (kind !== 'answer' && kind !== 'end') return this.effectOfBlockTag(found, standing, isTag);
    return isTag && (kind === 'answer' || name === this.block.name) ? 'ends' : 'none';
  }

  private effectOfBlockTag(
    found: FoundTag,
    standing: Standing,
    isTag: boolean,
  ): 'none' | 'ends' | 'doubtful' {
    if (found.kind === 'empty' || standing === 'quoted') return 'none';
    if (isTag && this.count(found)) return 'ends';
    return found.kind === 'open' || this.block.name === null ? 'none' : 'doubtful';
  }

  /** Counts the block's tags within it. Returns whether this one closes the block itself. */
  private count({ kind, name, isToken }: FoundTag): boolean {
    const { name: own, opened } = this.block;
    if (own !== null && own !== name) return false;
    const count = opened.get(name) ?? 0;
    if (kind === 'close' && count === 0) return true;
    if (!isToken) opened.set(name, count + (kind === 'open' ? 1 : -1));
    return false;
  }
}

function tagAtStart(text: string): FoundTag | null {
  const found = findTag(text);
  return found?.at === 0 ? found : null;
}

/** Whether it is certain what a text begins with. */
function isStartCertain(text: string, found: FoundTag | null, place: TextPosition): boolean {
  return found === null ? text !== '' && !isTagBegun(text) : place.isSettled(aheadOf(text, found));
}

/** Whether a tag can stand before all thoughts and the answer. */
function mayStand({ kind }: FoundTag, standing: Standing): boolean {
  return kind === 'close' ? standing === 'tag' : kind !== 'end';
}

function aheadOf(text: string, { end }: FoundTag): string {
  return text.slice(end, end + MOST_AHEAD);
}

function tell(kind: Piece['kind'], text: string): Piece[] {
  return text === '' ? [] : [{ kind, text }];
}

/** Blanks before a tag, the answer or the end; a text with more of them begins with no block. */
const BLANK = /^\s{0,1000}/;

/** Tag at the end of a message of gpt-oss, or what may become one. */
const LAST_TAG = /<(?:\|(?:[a-z]{0,6}|(?:end|return)\|(?:>\s{0,200})?))?$/i;
const MESSAGE_END = /<\|(?:end|return)\|>(?=\s{0,200}$)/i;
