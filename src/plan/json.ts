import type { OutputSchema } from './message';
import type { Plan, PlanContext } from './plan';

/**
 * Writes a plan as the JSON of `planOutputSchema`, without its reasoning: what a Conductor that is held to the schema
 * would have replied.
 *
 * @param workers ids in the order of the prompt
 */
export function renderPlanAsJson({ steps }: Plan, workers: readonly string[], reasoning = ''): string {
  const written = steps.map(({ worker, subtask, sees }) => ({
    worker: workers.indexOf(worker),
    subtask,
    sees: sees.length === 0 ? 'none' : 'all',
  }));
  return JSON.stringify({ reasoning, steps: written });
}

/**
 * The longest texts that a grammar lets a small model write, in characters. Without a bound such a model may never
 * close its quotes.
 */
const GRAMMAR_REASONING = 200;
const GRAMMAR_SUBTASK = 400;

/**
 * A JSON schema for a Conductor whose output can be held to one; `parsePlan` reads what it produces.
 *
 * It is a list of steps, so that the lists cannot differ in length, and a step sees all earlier steps or none, so that
 * no reference can point ahead: whatever a `grammar` allows is a valid plan. (In the paper's ablation, lists of indices
 * scored no better than all or none.) Reasoning comes first, since a model cannot think outside of its output.
 *
 * `vendor` leaves out the bounds that strict modes of hosted APIs refuse (`maxItems`, `maxLength`) and keeps to the
 * subset that OpenAI, Anthropic and Google have in common; the parser enforces the rest.
 */
export function planOutputSchema(
  { workers, maxSteps, round }: PlanContext,
  dialect: 'vendor' | 'grammar',
): OutputSchema {
  const bounds = (limits: Record<string, number>) => (dialect === 'grammar' ? limits : {});
  const step = objectOf({
    worker: { type: 'integer', enum: [...workers.keys()] },
    subtask: { type: 'string', ...bounds({ maxLength: GRAMMAR_SUBTASK }) },
    sees: { type: 'string', enum: ['none', 'all'] },
  });
  const schema = objectOf({
    reasoning: { type: 'string', ...bounds({ maxLength: GRAMMAR_REASONING }) },
    steps: { type: 'array', items: step, minItems: round === 0 ? 1 : 0, ...bounds({ maxItems: maxSteps }) },
  });
  return { name: 'plan', schema };
}

function objectOf(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
