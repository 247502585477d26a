import { isRecord } from '../plan/validate';
import { CONDUCTOR_ID, type Plan, type PlanContext, type Step } from '../plan/plan';
import type { PlanningRun, WritePlanRequest } from './activity-contract';
import type { CallPurpose, Usage } from './solve';
import { FAILURES } from './failures';
import type { SolveInput } from './input';
import type { ExternalCard, ResolvedRun, RunLimits, RunWorker } from './cards';
import { isWhole } from './rules';
import { isText, MAX_INLINE_QUESTION_BYTES, previewOf, type Text } from './text';

// Rules for runs, their plans and their calls, on which the workflow and the readers of its history must agree.

/** Returns options with which a solve starts, whoever starts it. Its children and calls inherit the priority. */
export function startOptionsOf(input: SolveInput): {
  readonly staticSummary: string;
  readonly priority?: { readonly priorityKey: number | undefined; readonly fairnessKey: string | undefined };
} {
  const { priority, tenant } = input;
  // No key is set unless asked for: Temporal Cloud bills fairness keys.
  const hasPriority = priority !== undefined || tenant !== undefined;
  return {
    staticSummary: previewOf(questionOf(input)).slice(0, 120).replace(/\s+/g, ' '),
    ...(hasPriority && { priority: { priorityKey: priority, fairnessKey: tenant } }),
  };
}

/** Whether the Conductor may be given steps of its own plan, or review its answer, at this depth. */
export function isRecursionAllowed(
  how: 'worker' | 'review',
  { recursion, limits }: Pick<ResolvedRun, 'recursion'> & { readonly limits: Pick<RunLimits, 'depth'> },
  depth: number,
): boolean {
  const isDepthLeft = limits.depth === null || depth < limits.depth;
  return (recursion === how || recursion === 'both') && isDepthLeft;
}

/** Returns the rules for plans of a run. If the Conductor may be given steps, it is the last ordinal. */
export function planContextOf(
  { workers, limits }: Pick<PlanningRun, 'workers' | 'limits'>,
  round: number,
  mayCallItself: boolean,
): PlanContext {
  const ids = workers.map(({ id }) => id);
  return { workers: mayCallItself ? [...ids, CONDUCTOR_ID] : ids, maxSteps: limits.steps, round };
}

/** Returns the plan to run if the Conductor wrote none: the first worker answers alone. */
export function standInPlan({
  workers: [best],
}: {
  readonly workers: readonly Pick<RunWorker, 'id'>[];
}): Plan {
  return { steps: best ? [{ worker: best.id, subtask: 'Answer the question completely.', sees: [] }] : [] };
}

/**
 * Returns the outputs of an earlier run that remain valid for a plan, by step; null for a step that must run. A person
 * may have changed the given plan: a step keeps its output only if it is unchanged and sees only kept outputs. An
 * answer that must fit a schema is always written and checked again.
 */
export function keptOutputs(
  { given, answerSchema }: Pick<SolveInput, 'given' | 'answerSchema'>,
  { steps }: Plan,
): (Text | null)[] {
  const kept: (Text | null)[] = [];
  for (const [index, step] of steps.entries()) {
    const isAnswer = index === steps.length - 1 && answerSchema !== undefined;
    const holds = !isAnswer && isAsBefore(step, given?.plan.steps[index], kept);
    kept.push(holds ? (given?.outputs[index] ?? null) : null);
  }
  return kept;
}

function isAsBefore(
  { worker, subtask, sees }: Step,
  before: Step | undefined,
  kept: readonly (Text | null)[],
): boolean {
  return (
    before?.worker === worker &&
    before.subtask === subtask &&
    before.sees.length === sees.length &&
    sees.every((seen) => before.sees.includes(seen) && (kept[seen] ?? null) !== null)
  );
}

export function asksApproval({ approval }: Pick<SolveInput, 'approval'>, depth: number): boolean {
  return approval === 'all' || (approval === 'plan' && depth === 0);
}

/** Returns the question of an unchecked input, maybe the last turn of a conversation; empty if there is none. */
export function questionOf(input: unknown): Text {
  const { question, messages }: Record<string, unknown> = isRecord(input) ? input : {};
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const asked = question ?? (isRecord(last) ? last.content : undefined);
  return isText(asked, MAX_INLINE_QUESTION_BYTES) ? asked : '';
}

/** Whether the configuration gives the plan, so that the Conductor is not asked: the first one, except in a review. */
export function takesConfigured(request: Pick<WritePlanRequest, 'run' | 'repairs' | 'review'>): boolean {
  const { run, repairs, review } = request;
  return run.conductor.plan !== undefined && review === undefined && repairs.length === 0;
}

/** Returns the purpose of a Conductor call. After a person's rejection it is a new plan, not a repair. */
export function purposeOf({ repairs, review }: Pick<WritePlanRequest, 'repairs' | 'review'>): CallPurpose {
  if (repairs.at(-1)?.problem.type === FAILURES.planInvalid) return 'repair';
  return review === undefined ? 'plan' : 'review';
}

/** Result of a worker of kind `activity` or `workflow`; unknown counts are left out of the usage. */
export interface ExternalAnswer {
  readonly text: string;
  readonly usage?: Pick<Usage, 'inputTokens' | 'outputTokens'> & Partial<Usage>;
}

/** Bound beyond any model's counts, so that the sums of a run stay exact. */
const MAX_TOKENS = 1e9;

/** Parses what such a worker returned, without zod (see `input.ts`). @throws Error that says what is wrong */
export function readExternalResult(
  result: unknown,
  { kind, type }: ExternalCard,
): { text: string; usage: Usage | null } {
  const fail = (reason: string): Error =>
    new Error(`${kind} ${type} did not return { text, usage? }: ${reason}`);
  if (!isRecord(result)) throw fail(`it returned ${String(result)}`);
  const { text, usage } = result;
  if (typeof text !== 'string') throw fail(`text is ${typeof text}, and must be a string`);
  if (usage === undefined || usage === null) return { text, usage: null };
  if (!isRecord(usage)) throw fail('usage must be an object');
  const count = (name: keyof Usage, ifMissing?: number): number => {
    const value = usage[name] ?? ifMissing;
    if (isWhole(value, 0, MAX_TOKENS)) return value;
    throw fail(`usage.${name} must be a whole number from 0 to ${MAX_TOKENS}`);
  };
  return {
    text,
    usage: {
      inputTokens: count('inputTokens'),
      outputTokens: count('outputTokens'),
      cachedInputTokens: count('cachedInputTokens', 0),
      reasoningTokens: count('reasoningTokens', 0),
    },
  };
}

/** Returns the cost of a call of a tool, or of a user's own activity or workflow; null if no price is known. */
export function nanoUsdOfCall({ price }: Pick<ExternalCard, 'price'>): number | null {
  return price === undefined ? null : Math.round(price.perCall * 1e9);
}

/** Returns what the Conductor is told of a worker's tools, in the operator's words alone; undefined if it has none. */
export function toolsToldOf(
  worker: RunWorker,
  { toolset }: Pick<ResolvedRun, 'toolset'>,
): string | undefined {
  const listed = worker.kind === 'model' ? (worker.tools ?? []) : [];
  const told = (toolset?.cards ?? []).flatMap((card) => {
    if (card.kind !== 'mcp') return listed.includes(card.name) ? [`${card.name} (${card.description})`] : [];
    const { name: entry, allow } = card;
    return allow.filter((tool) => listed.includes(entry) || listed.includes(`${entry}.${tool}`));
  });
  return told.length === 0 ? undefined : told.join(', ').replace(/\s+/g, ' ');
}
