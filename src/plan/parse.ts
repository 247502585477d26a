import { type Access, GENERIC_SUBTASK, type Plan, type PlanContext } from './plan';
import { type ListName, PlanError, quoteBriefly } from './plan-error';
import { type ChosenLists, chooseLists } from './reply/lists';
import type { Literal } from './reply/literal';
import { ORDINAL } from './reply/reader';
import { behindTags } from './thoughts/tags';
import { checkCount, isRecord, type Locate, validatePlan } from './validate';

/**
 * Parses the plan in a Conductor's reply, in time linear in its length: reasoning in any form, then three labelled
 * lists (`model_id`, `subtasks`, `access_list`) as Python, JSON, bullets or numbered lines, or the JSON of
 * `planOutputSchema`. Accepts every form whose meaning is unambiguous; of several plans, the last complete one counts.
 * @throws PlanError only, whatever the text
 */
export function parsePlan(text: string, context: PlanContext): Plan {
  const written = pairSteps(chooseLists(text), text);
  const locate: Locate = (list, step) => {
    const entry = written[step]?.[list];
    return entry && { text, at: entry.at };
  };
  // Checked before "all" is expanded: for 100,000 steps that would be 5 billion numbers.
  checkCount(written.length, context, locate);
  const steps = written.map(({ model_id, subtasks, access_list }, index) => ({
    worker: workerOf(model_id, text, context.workers),
    subtask: context.subtasks === false ? GENERIC_SUBTASK : subtaskOf(subtasks, text),
    sees: seesOf(access_list, index, text, context.access),
  }));
  return validatePlan({ steps }, context, { locate });
}

type WrittenStep = Readonly<Record<ListName, Literal>>;

function pairSteps(chosen: ChosenLists, text: string): WrittenStep[] {
  if (chosen.length === 1) {
    return itemsOf(chosen[0]).map((step) => ({
      model_id: fieldOf(step, 'model_id', text),
      subtasks: fieldOf(step, 'subtasks', text),
      access_list: fieldOf(step, 'access_list', text),
    }));
  }
  const [ids, subtasks, access] = chosen;
  const workers = itemsOf(ids);
  const instructions = itemsOf(subtasks);
  // A lone "all" without brackets applies to every step.
  const sights = access.kind === 'text' ? workers.map(() => access) : itemsOf(access);
  if (workers.length !== instructions.length || workers.length !== sights.length) {
    const { at } = workers.length === instructions.length ? access : subtasks;
    const counts = `model_id has ${workers.length} entries, subtasks ${instructions.length}, access_list ${sights.length}`;
    const problem = `${counts}: write exactly one entry for each step into each list.`;
    throw new PlanError('unequal_lengths', null, problem, { text, at });
  }
  return workers.flatMap((worker, index) => {
    const [subtask, sight] = [instructions[index], sights[index]];
    return subtask && sight ? [{ model_id: worker, subtasks: subtask, access_list: sight }] : [];
  });
}

function itemsOf(value: Literal): readonly Literal[] {
  return value.kind === 'list' ? value.items : [value];
}

/** Accepted names of a step's fields: our own first, then those of the three lists. */
const FIELDS: Readonly<Record<ListName, readonly [string, ...string[]]>> = {
  model_id: ['worker', 'model_id'],
  subtasks: ['subtask', 'subtasks'],
  access_list: ['sees', 'access_list', 'access'],
};

function fieldOf(step: Literal, list: ListName, text: string): Literal {
  for (const name of FIELDS[list]) {
    const value = step.kind === 'fields' ? step.fields.get(name) : undefined;
    if (value !== undefined) return value;
  }
  const problem = `This step has no "${FIELDS[list][0]}". Give each step a "worker", a "subtask" and what it "sees".`;
  throw new PlanError('missing_list', list, problem, { text, at: step.at });
}

/** Returns the worker for an ordinal in the prompt's list, or for an id. Errors list no ids, which may be hidden. */
function workerOf(id: Literal, text: string, workers: readonly string[]): string {
  if (id.kind !== 'text' || id.text === '') {
    const problem = 'Each entry of model_id is the number of one worker, without brackets.';
    throw new PlanError('unknown_worker', 'model_id', problem, { text, at: id.at });
  }
  const written = id.text.trim();
  const worker = ORDINAL.test(written) ? workers[Number(written)] : workers.find((name) => name === written);
  if (worker !== undefined) return worker;
  const problem = `There is no worker ${quoteBriefly(written)} in the pool. Write a number from 0 to ${workers.length - 1}.`;
  throw new PlanError('unknown_worker', 'model_id', problem, { text, at: id.at });
}

function subtaskOf(subtask: Literal, text: string): string {
  if (subtask.kind === 'text') return subtask.text;
  const problem = 'Each entry of subtasks is one text in double quotes.';
  throw new PlanError('bad_subtask', 'subtasks', problem, { text, at: subtask.at });
}

function seesOf(access: Literal, step: number, text: string, mode: Access = 'any'): number[] {
  const bad = ({ at }: Literal, found: string): PlanError => {
    const problem = `Each entry of access_list is ${ENTRIES[mode]}, not ${found}.`;
    return new PlanError('bad_access', 'access_list', problem, { text, at });
  };
  if (access.kind === 'fields') throw bad(access, 'an object');
  if (access.kind === 'text') {
    if (['', '[]', 'none', 'null'].includes(access.text.trim().toLowerCase())) return [];
    if (!isAll(access)) throw bad(access, quoteBriefly(access.text));
  }
  const entries = itemsOf(access);
  if (entries.some(isAll)) return [...Array(step).keys()];
  return entries.map((entry) => {
    const written = entry.kind === 'text' ? entry.text.trim() : 'a list';
    if (mode === 'binary' || !ORDINAL.test(written)) throw bad(entry, quoteBriefly(written));
    return Number(written);
  });
}

const ENTRIES: Readonly<Record<Access, string>> = {
  binary: '[] (sees nothing) or ["all"] (sees every earlier step)',
  any: '[], ["all"] or a list of the numbers of earlier steps',
};

function isAll(entry: Literal): boolean {
  return entry.kind === 'text' && entry.text.trim().toLowerCase() === 'all';
}

/**
 * Returns the prose of a reply before its plan, for use in an example, without thoughts between tags, code fences and
 * JSON braces.
 * @throws PlanError if the reply contains no plan
 */
export function reasoningOf(reply: string): string {
  const written = readJson(reply);
  if (typeof written === 'string') return written.trim();
  const before = reply.slice(0, Math.min(...chooseLists(reply).map(({ at }) => at)));
  const spoken = behindTags(before);
  const label = [...spoken.matchAll(/model[ _]?id|sub[ _]?task|access|steps/gi)].at(-1)?.index;
  return trimMarks(spoken.slice(0, label));
}

function readJson(reply: string): unknown {
  try {
    const value: unknown = JSON.parse(reply);
    return isRecord(value) ? value.reasoning : undefined;
  } catch {
    return undefined;
  }
}

/** Trims marks from the end in a loop: a pattern anchored to the end of a text may take quadratic time. */
function trimMarks(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\r\n"\'`*{#-'.includes(text.charAt(end - 1))) end -= 1;
  const rest = text.slice(0, end);
  return rest.replace(/```[a-z]{0,10}$/i, '').trim();
}
