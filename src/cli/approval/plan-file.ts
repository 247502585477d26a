import { type Document, isMap, isNode, isSeq, parseDocument, stringify } from 'yaml';
import { parsePlan } from '../../plan/parse';
import type { Plan, PlanContext } from '../../plan/plan';
import { type ListName, type Place, PlanError, underline } from '../../plan/plan-error';
import { validatePlan } from '../../plan/validate';
import { UsageError } from '../exit-code';

/** A plan as a person edits it; `readPlan` reads it back. */
export function writePlanFile({ steps }: Plan, { workers }: Pick<PlanContext, 'workers'>): string {
  const notes = [
    '# Save and close to run this plan; leave it as it is to go back.',
    `# Workers: ${workers.join(', ')}.`,
    '# sees: the steps before, counted from 0, whose outputs a step is shown.',
  ];
  return `${notes.join('\n')}\n${stringify({ steps }, { lineWidth: 100, flowCollectionPadding: false })}`;
}

/**
 * Reads a plan that a person wrote: YAML or JSON, `{ steps: [{ worker, subtask, sees }] }`, or the three lists of the
 * Conductor's own notation.
 * @throws UsageError with what is wrong, where, and the workers there are
 */
export function readPlan(text: string, name: string, context: PlanContext): Plan {
  try {
    return /\bmodel_ids?\b/.test(text) ? parsePlan(text, context) : readSteps(text, context);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const workers = context.workers.map((id, ordinal) => `${ordinal} ${id}`).join(', ');
    throw new UsageError(`${name} is no plan for this run. ${error.message}\nIts workers: ${workers}.`, {
      cause: error,
    });
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
  return validatePlan(document.toJS(), context, (list, step) => placeOf(document, text, step, FIELDS[list]));
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
