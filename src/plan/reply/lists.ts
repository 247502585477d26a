import { LIST_NAMES, type ListName, PlanError } from '../plan-error';
import { findTag, type Tag } from '../thoughts/tags';
import { type Literal, readBullets, readLiteral } from './literal';
import {
  ALL_ALONE,
  isSpace,
  LABEL_AHEAD,
  MARK,
  MARKS_BEHIND,
  NEXT_FIELD,
  ReplyReader,
  Unreadable,
} from './reader';

/** One list of steps, or the three lists in the order of `LIST_NAMES`. */
export type ChosenLists =
  readonly [steps: Literal] | readonly [ids: Literal, subtasks: Literal, access: Literal];

/**
 * Chooses among the lists of a reply: the last complete plan wins, since a model's last version is its decision. A plan
 * is three adjacent lists, preferably in the order the prompt asks for. Bracketed lists take precedence over bulleted
 * ones. A later plan that is not finished is an error: it may have been the real one.
 */
export function chooseLists(text: string): ChosenLists {
  const { lists, stillThinking } = findLists(text);
  const last = lastPlan(lists.filter(({ bulleted }) => !bulleted)) ?? lastPlan(lists);
  if (last === null) throw whyNone(lists, stillThinking, text);
  const broken = last.behind.find(isBroken);
  if (broken !== undefined) throw unreadable(broken, text);
  if (last.behind.length > 1) throw missing(last.behind, text);
  return last.plan;
}

function lastPlan(lists: readonly LabelledList[]): { plan: ChosenLists; behind: LabelledList[] } | null {
  for (const inOrder of [true, false]) {
    for (let end = lists.length; end > 0; end -= 1) {
      const plan = planEndingWith(lists.slice(Math.max(0, end - 3), end), inOrder);
      if (plan !== null) return { plan, behind: lists.slice(end) };
    }
  }
  return null;
}

/** Returns the plan that ends with the last of these adjacent lists, or null. */
function planEndingWith(lists: readonly LabelledList[], inOrder: boolean): ChosenLists | null {
  const steps = valueOf(lists.slice(-1), 'steps');
  if (steps !== null) return [steps];
  const ordered = LIST_NAMES.every((name, index) => lists[index]?.label === name);
  const [ids, subtasks, access] = LIST_NAMES.map((name) => valueOf(lists, name));
  if ((inOrder && !ordered) || !ids || !subtasks || !access) return null;
  return [ids, subtasks, access];
}

function valueOf(lists: readonly LabelledList[], name: LabelledList['label']): Literal | null {
  for (const { label, value } of lists) {
    if (label === name && !(value instanceof Unreadable)) return value;
  }
  return null;
}

function whyNone(lists: readonly LabelledList[], stillThinking: boolean, text: string): PlanError {
  const broken = lists.findLast(isBroken);
  if (broken !== undefined) return unreadable(broken, text);
  if (!stillThinking) return missing(lists, text);
  const problem = 'The reply ends inside its reasoning block. Think less, then write the three lists.';
  return new PlanError('unclosed_thinking', null, problem, { text, at: text.trimEnd().length });
}

function unreadable({ label, value: { code, problem, at } }: BrokenList, text: string): PlanError {
  return new PlanError(code, label === 'steps' ? null : label, problem, { text, at });
}

function missing(lists: readonly LabelledList[], text: string): PlanError {
  const absent = LIST_NAMES.find((name) => valueOf(lists, name) === null) ?? null;
  const problem = `The reply has no ${absent ?? 'plan: its lists stand apart'}. Write model_id, subtasks and access_list, each once and in this order.`;
  const end = text.trimEnd().length;
  return new PlanError('missing_list', absent, problem, end === 0 ? undefined : { text, at: end });
}

/** List found in a reply under a label of the plan language, however it is formatted. */
interface LabelledList {
  /** `steps` is the list of our JSON shape. */
  readonly label: ListName | 'steps';
  /** `Unreadable` says why a list that begins here cannot be read. */
  readonly value: Literal | Unreadable;
  /** Whether it has one entry per line instead of brackets, which is often only an explanation. */
  readonly bulleted: boolean;
}

type BrokenList = LabelledList & { readonly value: Unreadable };

function isBroken(list: LabelledList): list is BrokenList {
  return list.value instanceof Unreadable;
}

/** Labels in the order of the groups of `MARK`. */
const LABELS = [...LIST_NAMES, 'steps'] as const;

/**
 * Finds every labelled list of a reply, in text order, past Markdown, JSON braces and prose. Skips thoughts, wherever
 * they stand, even with only a closing tag (chat templates may add the opening tag themselves). Tags inside a list's
 * quotations are plain text.
 */
function findLists(text: string): { lists: LabelledList[]; stillThinking: boolean } {
  let lists: LabelledList[] = [];
  let stillThinking = false;
  let at = 0;
  for (const mark of marksOf(text, () => at)) {
    at = mark.end;
    if ('tag' in mark) {
      const isClosed = mark.tag === 'close' || mark.tag === 'answer';
      if (isClosed && !stillThinking) lists = [];
      if (mark.tag !== 'empty') stillThinking = mark.tag === 'open';
    } else if (!stillThinking) {
      const reader = new ReplyReader(text, at);
      const found = readLabelled(reader, mark.label);
      if (found !== null) lists.push(found);
      at = reader.at;
    }
  }
  return { lists, stillThinking };
}

type Mark = { readonly at: number; readonly end: number } & (
  { readonly tag: Tag['kind'] } | { readonly label: LabelledList['label'] }
);

/** Yields the labels and the tags of a text, in order. @param from returns where the next one is looked for */
function* marksOf(text: string, from: () => number): Generator<Mark> {
  let next = [findMarkedTag, findLabel].map((find) => ({ find, mark: find(text, 0) }));
  for (;;) {
    const marks = next.flatMap(({ mark }) => mark ?? []).sort((one, other) => one.at - other.at);
    const [first] = marks;
    if (first === undefined) return;
    yield first;
    const isPassed = (mark: Mark | null): boolean => mark !== null && mark.at < from();
    next = next.map(({ find, mark }) => ({ find, mark: isPassed(mark) ? find(text, from()) : mark }));
  }
}

function findMarkedTag(text: string, from: number): Mark | null {
  const found = findTag(text, from);
  return found && { at: found.at, end: found.end, tag: found.kind };
}

function findLabel(text: string, from: number): Mark | null {
  MARK.lastIndex = from;
  const mark = MARK.exec(text);
  if (mark === null) return null;
  const [, ...labels] = mark;
  return { label: LABELS[labels.findIndex(Boolean)] ?? 'steps', at: mark.index, end: MARK.lastIndex };
}

/** Reads the list after a label, or returns null if the label is only a word of the prose. */
function readLabelled(reader: ReplyReader, label: LabelledList['label']): LabelledList | null {
  if (!passSeparator(reader)) return null;
  if (reader.peek() === '[') return readBracketed(reader, label);
  const at = reader.at;
  if (label === 'access_list' && reader.take(ALL_ALONE) !== null) {
    return { label, value: { kind: 'text', at, text: 'all' }, bulleted: false };
  }
  const value = label === 'steps' ? null : readBullets(reader);
  return value && { label, value, bulleted: true };
}

/** Skips `=`, `:` or a line break, with a key's quotes and Markdown emphasis around it; false if there is none. */
function passSeparator(reader: ReplyReader): boolean {
  reader.skip((character) => ' \t"\'`*_'.includes(character));
  const separator = reader.peek();
  reader.skip((character) => ':='.includes(character));
  reader.skip((character) => ' \t`*'.includes(character));
  reader.skip((character) => isSpace(character) || character === '`');
  return separator !== '' && ':=\r\n'.includes(separator);
}

/**
 * Refuses text behind a list of subtasks on its line: an unescaped quote and a bracket within a subtask, as in
 * `"Report d["key"] alone"`, look like the end of the list.
 * @throws Unreadable
 */
function checkRest(reader: ReplyReader): void {
  const rest = new ReplyReader(reader.text, reader.at);
  rest.take(MARKS_BEHIND);
  if (rest.stands(NEXT_FIELD) || rest.stands(LABEL_AHEAD) || rest.startsComment()) return;
  const problem =
    'Text follows the list that ends here. Write \\" for a quote within a subtask, and nothing behind the closing bracket.';
  throw new Unreadable('bad_shape', problem, rest.at);
}

function readBracketed(reader: ReplyReader, label: LabelledList['label']): LabelledList | null {
  try {
    const value = readLiteral(reader);
    if (label === 'subtasks') checkRest(reader);
    // A list of anything but objects only mentions "steps".
    const isSteps = value.kind === 'list' && value.items.every(({ kind }) => kind === 'fields');
    return label === 'steps' && !isSteps ? null : { label, value, bulleted: false };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { label, value: error, bulleted: false };
  }
}
