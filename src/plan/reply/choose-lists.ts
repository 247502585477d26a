import { LIST_NAMES, PlanError, type ListName } from '../plan-error';
import { findLists, type BrokenList, type LabelledList } from './find-lists';
import type { Literal } from './read-literal';

/** The lists that are the reply's plan: one list of steps, or the three in the order of `LIST_NAMES`. */
export type ChosenLists =
  | { readonly kind: 'steps'; readonly steps: Literal }
  | { readonly kind: 'triple'; readonly lists: readonly [Literal, Literal, Literal] };

/**
 * Chooses among the lists of a reply: the last complete plan wins.
 *
 * The authors' code takes the first label of each list, which runs an example or a draft that the reasoning
 * quotes. A model's last word is its decision. Three neighbours are one plan, in the order the prompt asks for before
 * any other order, and bracketed lists before bulleted ones. A plan that is begun but not finished behind the chosen
 * one is an error: what was cut off there may have been the real plan.
 */
export function chooseLists(text: string): ChosenLists {
  const { lists, stillThinking } = findLists(text);
  const bracketed = lists.filter(({ bulleted }) => !bulleted);
  const last = lastPlan(bracketed) ?? lastPlan(lists);
  if (last === null) throw whyNone(lists, stillThinking, text);
  refuseBegun(last.behind, text);
  return last.plan;
}

interface LastPlan {
  readonly plan: ChosenLists;
  /** What the reply holds behind it. */
  readonly behind: readonly LabelledList[];
}

function lastPlan(lists: readonly LabelledList[]): LastPlan | null {
  for (const inOrder of [true, false]) {
    for (let end = lists.length; end > 0; end -= 1) {
      const plan = planOf(lists.slice(Math.max(0, end - 3), end), inOrder);
      if (plan !== null) return { plan, behind: lists.slice(end) };
    }
  }
  return null;
}

/** The plan that ends with the last of these neighbours. */
function planOf(lists: readonly LabelledList[], inOrder: boolean): ChosenLists | null {
  const last = lists.at(-1);
  if (last?.label === 'steps') return { kind: 'steps', steps: last.value };
  const ordered = LIST_NAMES.every((name, index) => lists[index]?.label === name);
  const [ids, subtasks, access] = LIST_NAMES.map((name) => valueOf(lists, name));
  if ((inOrder && !ordered) || !ids || !subtasks || !access) return null;
  return { kind: 'triple', lists: [ids, subtasks, access] };
}

function valueOf(lists: readonly LabelledList[], name: ListName): Literal | null {
  for (const list of lists) if (list.label === name) return list.value;
  return null;
}

function refuseBegun(behind: readonly LabelledList[], text: string): void {
  const broken = behind.find((list) => list.label === 'broken');
  if (broken !== undefined) throw unreadable(broken, text);
  if (behind.length > 1) throw missing(behind, text);
}

function whyNone(lists: readonly LabelledList[], stillThinking: boolean, text: string): PlanError {
  const broken = lists.findLast((list) => list.label === 'broken');
  if (broken !== undefined) return unreadable(broken, text);
  if (!stillThinking) return missing(lists, text);
  const problem = 'The reply ends inside its reasoning block. Think less, then write the three lists.';
  return new PlanError('unclosed_thinking', null, problem, { text, at: text.trimEnd().length });
}

function unreadable({ list, reason }: BrokenList, text: string): PlanError {
  return new PlanError(reason.code, list, reason.problem, { text, at: reason.at });
}

function missing(lists: readonly LabelledList[], text: string): PlanError {
  const absent = LIST_NAMES.find((name) => valueOf(lists, name) === null) ?? null;
  const problem = `The reply has no ${absent ?? 'plan: its lists stand apart'}. Write model_id, subtasks and access_list, each once and in this order.`;
  const end = text.trimEnd().length;
  return new PlanError('missing_list', absent, problem, end === 0 ? undefined : { text, at: end });
}
