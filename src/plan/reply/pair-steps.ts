import { PlanError, type ListName } from '../plan-error';
import type { ChosenLists } from './choose-lists';
import type { Literal } from './read-literal';

/** One step as it is written: its entry of each list. */
export type WrittenStep = Readonly<Record<ListName, Literal>>;

/** Puts together what belongs to one step: the entries of one index, or the fields of one object. */
export function pairSteps(chosen: ChosenLists, text: string): WrittenStep[] {
  return chosen.kind === 'steps'
    ? itemsOf(chosen.steps).map((step) => stepOfFields(step, text))
    : stepsOfTriple(chosen.lists, text);
}

function itemsOf(value: Literal): readonly Literal[] {
  return value.kind === 'list' ? value.items : [value];
}

function stepsOfTriple(
  [ids, subtasks, access]: readonly [Literal, Literal, Literal],
  text: string,
): WrittenStep[] {
  const workers = itemsOf(ids);
  const instructions = itemsOf(subtasks);
  // "all" alone, without brackets, speaks for every step.
  const sights = access.kind === 'text' ? workers.map(() => access) : itemsOf(access);
  if (workers.length !== instructions.length || workers.length !== sights.length) {
    const at = workers.length === instructions.length ? access.at : subtasks.at;
    const counts = `model_id has ${workers.length} entries, subtasks ${instructions.length}, access_list ${sights.length}`;
    const problem = `${counts}: write exactly one entry for each step into each list.`;
    throw new PlanError('unequal_lengths', null, problem, { text, at });
  }
  return workers.flatMap((worker, index) => {
    const [subtask, sight] = [instructions[index], sights[index]];
    return subtask && sight ? [{ model_id: worker, subtasks: subtask, access_list: sight }] : [];
  });
}

/** What a step's fields may be called: our own name first, then those of the three lists. */
const FIELDS: Readonly<Record<ListName, readonly string[]>> = {
  model_id: ['worker', 'model_id'],
  subtasks: ['subtask', 'subtasks'],
  access_list: ['sees', 'access_list', 'access'],
};

function stepOfFields(step: Literal, text: string): WrittenStep {
  return {
    model_id: fieldOf(step, 'model_id', text),
    subtasks: fieldOf(step, 'subtasks', text),
    access_list: fieldOf(step, 'access_list', text),
  };
}

function fieldOf(step: Literal, list: ListName, text: string): Literal {
  const [ownName = list] = FIELDS[list];
  if (step.kind === 'fields') {
    for (const name of FIELDS[list]) {
      const value = step.fields.get(name);
      if (value !== undefined) return value;
    }
  }
  const problem = `This step has no "${ownName}". Give each step a "worker", a "subtask" and what it "sees".`;
  throw new PlanError('missing_list', list, problem, { text, at: step.at });
}
