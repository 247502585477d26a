import { z } from '@hono/zod-openapi';
import { type Call, problemSchema, type SolveResult, type Usage } from '../../protocol/solve';
import { isPlanning, knownNanoUsd, totalOf } from '../../trace/cost';
import { isCallOf } from '../../trace/run-tree';
import { resultSchema } from '../routes';
import type { Extension } from './request-fields';

// What answers in any format state about their solve: a note, the tokens and the cost.

const stepNoteSchema = z
  .object({
    round: z.int(),
    child_id: z.string().nullable(),
    index: z.int(),
    worker: z.string(),
    model: z.string().nullable(),
    subtask: z.string(),
    sees: z.array(z.int()).readonly(),
    error: problemSchema.nullable(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    cost_usd: z.number(),
    attempts: z.int(),
  })
  .openapi('StepNote');

/** Note in an answer, under the key `conductor`, on the solve that found it; the caller chooses its detail. */
export const solveNoteSchema = z
  .object({
    id: z.string(),
    degraded: z.boolean(),
    stopped_by: z.string().nullable(),
    warnings: z.array(z.string()),
    /** With `trace: summary`. */
    steps: z.array(stepNoteSchema).optional(),
    /** With `trace: full`: the document at /api/solves/ID, with that document's own names. */
    trace: resultSchema.optional(),
  })
  .openapi('SolveNote');
export type SolveNote = z.infer<typeof solveNoteSchema>;

/** The caller's choice of detail, and the warnings to pass on. */
interface NoteChoice {
  readonly extension: Pick<Extension, 'trace'>;
  readonly warnings: readonly string[];
}

export function noteOf(result: SolveResult, { extension, warnings }: NoteChoice): SolveNote {
  const { id, degraded, stoppedBy } = result;
  const note = { id, degraded, stopped_by: stoppedBy, warnings: [...warnings] };
  if (extension.trace === 'full') return { ...note, trace: result };
  return extension.trace === 'summary' ? { ...note, steps: summarizeSteps(result) } : note;
}

function summarizeSteps({ rounds, calls }: SolveResult): z.infer<typeof stepNoteSchema>[] {
  return rounds.flatMap(({ childId, round, plan, steps }) =>
    steps.map(({ index, worker, model, error, startedAt, endedAt }) => {
      const own = calls.filter((call) => isCallOf(call, { round, childId }, index));
      const { subtask, sees } = plan?.steps[index] ?? { subtask: '', sees: [] };
      const planned = { round, child_id: childId, index, worker, model, subtask, sees };
      const spent = { cost_usd: totalOf(own).costUsd, attempts: own.length };
      return { ...planned, error, started_at: startedAt, ended_at: endedAt, ...spent };
    }),
  );
}

/** What a solve used, over all its calls; the last five counts are parts of the first two. */
export interface SpentAmounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cacheWritten: number;
  readonly reasoning: number;
  /** Input tokens of the Conductor's own calls, which write and review plans. */
  readonly orchestrationInput: number;
  readonly orchestrationOutput: number;
  /** 10⁻⁹ USD, of which sums are exact. */
  readonly nanoUsd: number;
  /** The cost of a call is unknown: it is at least that. */
  readonly isLowerBound: boolean;
}

export function spentIn(result: SolveResult): SpentAmounts {
  const { calls, usage } = result;
  const orchestrating = calls.filter(isPlanning);
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cached: sumOf(calls, (used) => used.cachedInputTokens),
    cacheWritten: sumOf(calls, (used) => used.cacheWriteTokens ?? 0),
    reasoning: sumOf(calls, (used) => used.reasoningTokens),
    orchestrationInput: sumOf(orchestrating, (used) => used.inputTokens),
    orchestrationOutput: sumOf(orchestrating, (used) => used.outputTokens),
    nanoUsd: knownNanoUsd(result),
    isLowerBound: result.costIsLowerBound,
  };
}

function sumOf(calls: readonly Call[], count: (usage: Usage) => number): number {
  return calls.reduce((sum, { usage }) => sum + (usage === null ? 0 : count(usage)), 0);
}

/** Returns `cost` in USD, as OpenRouter does; it is a lower bound if the cost of a call is unknown. */
export const costOf = ({ nanoUsd, isLowerBound }: SpentAmounts) =>
  ({ cost: nanoUsd / 1e9, cost_details: { is_lower_bound: isLowerBound } }) as const;

/**
 * Returns the headers of a complete answer: the solve, and the amounts that LiteLLM books for a pass-through target
 * (https://docs.litellm.ai/docs/proxy/pass_through_cost_tracking).
 */
export function headersOf(
  id: string,
  { input, output, nanoUsd }: Pick<SpentAmounts, 'input' | 'output' | 'nanoUsd'>,
): Record<string, string> {
  return {
    ...solveHeader(id),
    'x-litellm-response-cost': String(nanoUsd / 1e9),
    'x-litellm-total-tokens': String(input + output),
  };
}

export function solveHeader(id: string): Record<string, string> {
  return { 'x-conductor-solve': id, 'x-request-id': id };
}
