import { stringify } from 'yaml';
import { readJson } from '../../activities/models/diagnose';
import { ConfigError } from '../../config/errors';
import { readYaml } from '../../config/load';
import { parsePlan } from '../../plan/parse';
import type { Plan, PlanContext } from '../../plan/plan';
import { PlanError } from '../../plan/plan-error';
import { validatePlan } from '../../plan/validate';
import { UsageError } from '../../errors';

/** Writes a plan as a person edits it, steps counted from 1; `readPlan` reads it back. */
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
 * Reads a plan in YAML (steps from 1), JSON (from 0, as in all our JSON) or the Conductor's three lists.
 * @throws UsageError with what is wrong, where, and what to write instead
 */
export function readPlan(text: string, name: string, context: PlanContext): Plan {
  // A subtask may mention "model_id", too.
  const isLists = /\bmodel_ids?\b/.test(text) && !/^steps:/m.test(text);
  try {
    if (isLists) return parsePlan(text, context);
    return validatePlan(readYaml(text, name).content, context, {
      firstStep: readJson(text) === null ? 1 : 0,
    });
  } catch (error) {
    if (!(error instanceof PlanError) && !(error instanceof ConfigError)) throw error;
    const ordinals = context.workers.map((id, ordinal) => `${ordinal} ${id}`).join(', ');
    const workers = isLists ? `\nWorkers: ${ordinals}.` : '';
    throw new UsageError(`${name} cannot be used as a plan. ${error.message}${workers}`, { cause: error });
  }
}
