import { stringify } from 'yaml';
import type { Plan, PlanContext } from '../../plan/plan';

/** A plan as a person edits it; `readPlan` reads it back. */
export function writePlanFile({ steps }: Plan, { workers }: Pick<PlanContext, 'workers'>): string {
  const notes = [
    '# Save and close to run this plan; leave it as it is to go back.',
    `# Workers: ${workers.join(', ')}.`,
    '# sees: the steps before, counted from 0, whose outputs a step is shown.',
  ];
  return `${notes.join('\n')}\n${stringify({ steps }, { lineWidth: 100, flowCollectionPadding: false })}`;
}
