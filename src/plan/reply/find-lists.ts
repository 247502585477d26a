import { LIST_NAMES, type ListName } from '../plan-error';
import { ALL_ALONE, MARK } from './patterns';
import { readBullets } from './read-bullets';
import { readLiteral, type Literal } from './read-literal';
import { isSpace, Reader } from './reader';
import { Unreadable } from './unreadable';

/** What a reply holds under a label of the plan language, in whatever dress. */
export type LabelledList = ReadList | BrokenList;

interface ReadList {
  /** `steps` is the list of our JSON shape. */
  readonly label: ListName | 'steps';
  readonly value: Literal;
  /** One entry a line instead of brackets: plausible, but often mere explanation. */
  readonly bulleted: boolean;
}

/** A list that begins but cannot be read. */
export interface BrokenList {
  readonly label: 'broken';
  /** Which of the three it is; null for a list of steps. */
  readonly list: ListName | null;
  readonly reason: Unreadable;
  readonly bulleted: false;
}

export interface FoundLists {
  /** In the order of the text. */
  readonly lists: readonly LabelledList[];
  /** The reply ended before its reasoning block did. */
  readonly stillThinking: boolean;
}

/** In the order of the groups of `MARK`. */
const LABELS = [...LIST_NAMES, 'steps'] as const;

/**
 * Finds every labelled list of a reply, past markdown, JSON braces and prose.
 *
 * Reasoning blocks are passed over. A closing tag without an opening one (chat templates may write the opening tag
 * themselves) makes all before it reasoning. Tags inside a list's quotations are text and mean nothing.
 */
export function findLists(text: string): FoundLists {
  let lists: LabelledList[] = [];
  let thinking = false;
  let resumeAt = 0;
  for (;;) {
    MARK.lastIndex = resumeAt;
    const mark = MARK.exec(text);
    if (mark === null) return { lists, stillThinking: thinking };
    resumeAt = MARK.lastIndex;
    const [, slash, ...labels] = mark;
    if (slash === '') thinking = true;
    else if (slash === '/') {
      if (!thinking) lists = [];
      thinking = false;
    } else if (!thinking) {
      const reader = new Reader(text, resumeAt);
      const found = readLabelled(reader, LABELS[labels.findIndex(Boolean)] ?? 'steps');
      if (found !== null) lists.push(found);
      resumeAt = reader.at;
    }
  }
}

/** Reads what a label announces; null where it is only a word of the prose. */
function readLabelled(reader: Reader, label: ListName | 'steps'): LabelledList | null {
  if (!passSeparator(reader)) return null;
  if (reader.peek() === '[') return readBracketed(reader, label);
  const at = reader.at;
  if (label === 'access_list' && reader.take(ALL_ALONE) !== null) {
    return { label, value: { kind: 'text', at, text: 'all' }, bulleted: false };
  }
  const value = label === 'steps' ? null : readBullets(reader);
  return value && { label, value, bulleted: true };
}

/** Passes over `=`, `:` or a line break, with quotes of a key and marks of emphasis around it. */
function passSeparator(reader: Reader): boolean {
  reader.skip((character) => ' \t"\'`*_'.includes(character));
  const separator = reader.peek();
  reader.skip((character) => ':='.includes(character));
  reader.skip((character) => ' \t`*'.includes(character));
  reader.skip((character) => isSpace(character) || character === '`');
  return separator !== '' && ':=\r\n'.includes(separator);
}

function readBracketed(reader: Reader, label: ListName | 'steps'): LabelledList | null {
  try {
    const value = readLiteral(reader);
    return label === 'steps' && !isListOfFields(value) ? null : { label, value, bulleted: false };
  } catch (reason) {
    if (!(reason instanceof Unreadable)) throw reason;
    return { label: 'broken', list: label === 'steps' ? null : label, reason, bulleted: false };
  }
}

/** Tells our JSON shape from a mere mention of "steps". */
function isListOfFields(value: Literal): boolean {
  return value.kind === 'list' && value.items.every(({ kind }) => kind === 'fields');
}
