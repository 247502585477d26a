import { type Document, isMap, isNode, isSeq, parseDocument, stringify } from 'yaml';
import { parsePlan } from '../../plan/parse';
import type { Plan, PlanContext } from '../../plan/plan';
import { type ListName, type Place, PlanError, underline } from '../../plan/plan-error';
import { validatePlan } from '../../plan/validate';
import { reasonOf } from '../../reason-of';
import { UsageError } from '../exit-code';

/** A plan as a person edits it, steps counted from 1; `readPlan` reads it back. */
export function writePlanFile({ steps }: Plan, { workers }: Pick<PlanContext, 'workers'>): string {
  const notes = [
    '# Save and close to run this plan; leave it as it is to go back.',
    `# Workers: ${workers.join(', ')}.`,
    '# sees: the earlier steps, counted from 1, whose outputs a step is shown.',
  ];
  const shown = steps.map((step) => ({ ...step, sees: step.sees.map((seen) => seen + 1) }));
  return `${notes.join('\n')}\n${stringify({ steps: shown }, { lineWidth: 100, flowCollectionPadding: false })}`;
}

/**
 * Reads a plan that a person or a program wrote: YAML, whose steps count from 1; JSON, whose steps count from 0 as in all
 * JSON of ours; or the three lists of the Conductor's own notation.
 * @throws UsageError with what is wrong, where, and what to write instead
 */
export function readPlan(text: string, name: string, context: PlanContext): Plan {
  // A subtask may speak of "model_id", too.
  const isLists = /\bmodel_ids?\b/.test(text) && !/^steps:/m.test(text);
  try {
    return isLists ? parsePlan(text, context) : readSteps(text, context);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const ordinals = context.workers.map((id, ordinal) => `${ordinal} ${id}`).join(', ');
    const workers = isLists ? `\nWorkers: ${ordinals}.` : '';
    throw new UsageError(`${name} cannot be used as a plan. ${error.message}${workers}`, { cause: error });
  }
}

function readSteps(text: string, context: PlanContext): Plan {
  const document = parseDocument(text, { prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const place = { text, at: error.pos[0] };
    throw new PlanError(
      'bad_shape',
      null,
      `This is neither YAML nor JSON: ${error.message}\n${underline(place)}`,
    );
  }
  const locate = (list: ListName, step: number): Place | undefined =>
    placeOf(document, text, step, FIELDS[list]);
  return validatePlan(valueOf(document), context, { locate, firstStep: isJson(text) ? 0 : 1 });
}

function valueOf(document: Document.Parsed): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias without its anchor, or too many of them.
    throw new PlanError('bad_shape', null, `This YAML cannot be read: ${reasonOf(error)}.`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const FIELDS: Readonly<Record<ListName, string>> = {
  model_id: 'worker',
  subtasks: 'subtask',
  access_list: 'sees',
};

/** Where a field of a step stands; where it is missing, the step. */
function placeOf(
  { contents }: Document.Parsed,
  text: string,
  index: number,
  field: string,
): Place | undefined {
  const steps = isMap(contents) ? contents.get('steps', true) : undefined;
  const step = isSeq(steps) ? steps.items[index] : undefined;
  const value = isMap(step) ? step.get(field, true) : undefined;
  const node = value ?? step;
  return isNode(node) && node.range ? { text, at: node.range[0] } : undefined;
}
