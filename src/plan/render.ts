import type { Access, OutputSchema, Plan, PlanContext, Step } from './plan';
import { PlanError, quoteBriefly } from './plan-error';

/**
 * Writes a plan as the three lists that the Conductor itself writes; `parsePlan` reads back the same plan.
 * @throws PlanError if a step's worker is not among `workers`, which must be in the order of the prompt
 */
export function renderPlan({ steps }: Plan, workers: readonly string[]): string {
  return [
    `model_id = [${steps.map(({ worker }) => ordinalOf(worker, workers)).join(', ')}]`,
    `subtasks = [${steps.map(({ subtask }) => quoted(subtask)).join(', ')}]`,
    `access_list = [${steps.map(accessOf).join(', ')}]`,
  ].join('\n');
}

function ordinalOf(worker: string, workers: readonly string[]): number {
  const ordinal = workers.indexOf(worker);
  if (ordinal !== -1) return ordinal;
  const problem = `${quoteBriefly(worker)} is not among the ${workers.length} workers of this pool, so it has no number.`;
  throw new PlanError('unknown_worker', 'model_id', problem);
}

const SPELLED_OUT: Readonly<Record<string, string>> = { '\\b': '\\u0008', '\\f': '\\u000c' };

/** Quotes a text as JSON, except for the two escapes that the parser keeps as they are because of LaTeX. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\\./g, (escape) => SPELLED_OUT[escape] ?? escape);
}

function accessOf({ sees }: Step, index: number): string {
  return index > 0 && sees.length === index ? '["all"]' : JSON.stringify(sees);
}

/** Writes a plan as the JSON that a Conductor constrained to `planOutputSchema` would reply. */
export function renderPlanAsJson(
  { steps }: Plan,
  workers: readonly string[],
  access: Access,
  reasoning = '',
): string {
  const written = steps.map(({ worker, subtask, sees }) => ({
    worker: workers.indexOf(worker),
    subtask,
    sees: access === 'any' ? sees : sees.length === 0 ? 'none' : 'all',
  }));
  return JSON.stringify({ reasoning, steps: written });
}

/** Longest texts that a grammar allows, in characters: without a limit, a small model may never close its quotes. */
const GRAMMAR_REASONING = 200;
const GRAMMAR_SUBTASK = 400;

/**
 * Returns a JSON schema for a Conductor whose output can be constrained; `parsePlan` reads that output. With binary
 * access, everything a `grammar` allows is a valid plan; no grammar can limit a list of steps to earlier ones. `vendor`
 * leaves out bounds that the strict modes of hosted APIs refuse.
 */
export function planOutputSchema(
  { workers, maxSteps, round, access = 'any' }: PlanContext,
  dialect: 'vendor' | 'grammar',
): OutputSchema {
  const bounds = (limits: Record<string, number>) => (dialect === 'grammar' ? limits : {});
  const step = objectOf({
    worker: { type: 'integer', enum: [...workers.keys()] },
    subtask: { type: 'string', ...bounds({ maxLength: GRAMMAR_SUBTASK }) },
    sees:
      access === 'binary'
        ? { type: 'string', enum: ['none', 'all'] }
        : { type: 'array', items: { type: 'integer' }, ...bounds({ maxItems: maxSteps }) },
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
