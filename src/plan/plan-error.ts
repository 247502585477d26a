import { underline, type Place } from './underline';

/** The three lists of a plan as the Conductor writes them, in the order it is asked for. */
export const LIST_NAMES = ['model_id', 'subtasks', 'access_list'] as const;
export type ListName = (typeof LIST_NAMES)[number];

/** Why a text or a value is no plan. */
export type PlanErrorCode =
  /** A list, or a field of a step, is not there. */
  | 'missing_list'
  /** A bracket or quote is never closed: the reply was cut off, or a list begins inside another. */
  | 'unclosed_list'
  /** The reply ends inside its reasoning block, before any plan. */
  | 'unclosed_thinking'
  /** Brackets within brackets, deeper than any plan. */
  | 'nested_too_deep'
  | 'unequal_lengths'
  /** An empty plan where there is no earlier answer to accept. */
  | 'nothing_to_accept'
  | 'too_many_steps'
  | 'unknown_worker'
  /** A subtask that is no text. */
  | 'bad_subtask'
  | 'subtask_too_long'
  /** An access entry that is neither empty, nor "all", nor a list of step numbers. */
  | 'bad_access'
  /** A step would see itself, a later step or one that does not exist. */
  | 'forward_reference'
  /** A value that has not the shape of a plan at all. */
  | 'bad_shape';

/**
 * The one error of the plan language. Its message is written for whoever wrote the plan, so that the Conductor can be
 * shown it and repair its reply: what is wrong, what to write instead, and a caret into the offending line.
 */
export class PlanError extends Error {
  override readonly name = 'PlanError';

  constructor(
    readonly code: PlanErrorCode,
    /** The list at fault; null where it is no single one. */
    readonly list: ListName | null,
    problem: string,
    place?: Place,
  ) {
    super(place === undefined ? problem : `${problem}\n${underline(place)}`);
  }
}

/** A value as a message may show it: in quotes, on one line, and never long. */
export function quoteBriefly(value: string): string {
  const limit = 60;
  return JSON.stringify(value.length > limit ? `${value.slice(0, limit)}…` : value);
}
