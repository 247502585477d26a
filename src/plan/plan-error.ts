import { ConductorError } from '../errors';

/** The three lists of a plan, in the order in which the Conductor is asked to write them. */
export const LIST_NAMES = ['model_id', 'subtasks', 'access_list'] as const;
export type ListName = (typeof LIST_NAMES)[number];

export type PlanErrorCode =
  | 'missing_list'
  /** A bracket or quote is never closed: the reply was cut off, or a list begins inside another. */
  | 'unclosed_list'
  /** The reply ends inside its reasoning block, before any plan. */
  | 'unclosed_thinking'
  | 'nested_too_deep'
  | 'unequal_lengths'
  /** The plan is empty, but there is no earlier answer to accept. */
  | 'nothing_to_accept'
  | 'too_many_steps'
  | 'unknown_worker'
  | 'bad_subtask'
  | 'subtask_too_long'
  | 'bad_access'
  /** A step would see itself, a later step or one that does not exist. */
  | 'forward_reference'
  | 'bad_shape';

/**
 * The only error of the plan language. The Conductor is shown its message to repair its reply: what is wrong, what to
 * write instead, and a caret below the position at fault.
 */
export class PlanError extends ConductorError {
  override readonly name = 'PlanError';

  constructor(
    readonly code: PlanErrorCode,
    /** List at fault, or null if it is not one list alone. */
    readonly list: ListName | null,
    problem: string,
    place?: ErrorPlace,
  ) {
    super(place === undefined ? problem : `${problem}\n${underline(place)}`);
  }
}

export interface ErrorPlace {
  readonly text: string;
  /** Index of a UTF-16 code unit; the text's length means its end. */
  readonly at: number;
}

/** Returns the line around a place, clipped to 60 characters before it and 40 after, with a caret below it. */
function underline({ text, at }: ErrorPlace): string {
  const lineStart = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  const nextLine = text.indexOf('\n', at);
  const lineEnd = nextLine === -1 ? text.length : nextLine;
  const from = Math.max(lineStart, at - 60);
  const to = Math.min(lineEnd, at + 40);
  const before = (from > lineStart ? '…' : '') + printable(text.slice(from, at));
  const after = printable(text.slice(at, to)) + (to < lineEnd ? '…' : '');
  return `  ${before}${after}\n  ${' '.repeat(Array.from(before).length)}^`;
}

/** Replaces control characters, tabs and lone surrogates, which would move the caret or break a message, by dots. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '·');
}

/** Quotes a text for a message: on one line, clipped to 60 characters. */
export function quoteBriefly(text: string): string {
  return JSON.stringify(briefly(text));
}

export function briefly(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Shows a value as JSON, cut short. JSON has null for a number that it cannot write, such as 1e400. */
export function showBriefly(value: unknown): string {
  return briefly(typeof value === 'number' ? String(value) : JSON.stringify(value));
}
