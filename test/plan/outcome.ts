import { parsePlan } from '../../src/plan/parse';
import type { Plan, PlanContext } from '../../src';
import { PlanError } from '../../src/plan/plan-error';

/** Returns the plan or the typed error that was thrown; throws any other error. */
export function outcomeOf(make: () => Plan): Plan | PlanError {
  try {
    return make();
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
}

/** Returns the message of the typed error for a text, or "no error". */
export function problemOf(text: string, context: PlanContext): string {
  const outcome = outcomeOf(() => parsePlan(text, context));
  return outcome instanceof PlanError ? outcome.message : 'no error';
}

/** Pieces that mean something to the parser, and characters that break a careless one. */
export const PIECES: readonly string[] = [
  ...String.raw`[ ] [[ [] { } {"a": " ' “ ” ’ """ "" "] "," \ \n \u , : = # // / 0 a all é 😀`.split(' '),
  ...['<think>', '</think>', '`', '```', '- ', '1. ', '1. x\n', "', '", '", "', '" ,', '"\n', "' , \n"],
  ...[' ', '\n', '\r', '\t', '\b', '\f', '\0', '\u2028', '\ud800', '\udfff', '[\n0 #'],
  ...['model_id', 'model_id:\n', 'model_id = [', 'model_id = ["', '\nsubtasks = ["', 'subtasks = ["a"]\n'],
  ...['access_list = [', 'access_list: all\n', 'access:\n- "a\n', 'steps = [{', '"steps": [{'],
  ...['<think>model_id = [0]</think>', 'model_id=[0] subtasks=["a"] access_list=[[]] '],
];
