import { CONDUCTOR_ID, type Plan, type Step } from '../plan/plan';
import type { RunTask } from '../protocol/activity-contract';
import type { ResolvedRun, RunWorker } from '../protocol/cards';
import type { Background, SolveInput } from '../protocol/input';
import { nanoUsdOfCall } from '../protocol/planning';
import type { SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { CALLER_TOOLS } from '../protocol/tool-use';
import { workerPromptBytes } from './prompt-bytes';
import { answerRoom, type WorstCase, worstCaseOf } from './worst-case';

interface PlanTexts extends RunTask, Pick<SolveInput, 'maxAnswerTokens'> {
  readonly background?: readonly Background[] | undefined;
  /** Outputs that already exist, by step: such a step costs nothing more. */
  readonly kept?: readonly (Text | null)[];
}

/**
 * Estimates the most that a plan may cost if its planned workers answer each step at the first request. An answer not
 * written yet counts as the most tokens its worker may write: no strict bound, since models tokenize differently. A step
 * of a worker with tools takes all turns that it may, each with a result of the longest kind, and all calls of the run
 * are of its dearest tool; with functions of the caller, who decides how long it goes on, its cost is unknown. Steps of
 * the Conductor itself count only as a call; the user's own activities and workflows add their price per call.
 */
export function estimatePlan(
  plan: Plan,
  run: ResolvedRun,
  { question, conversation, answerSchema, maxAnswerTokens, background = [], kept = [] }: PlanTexts,
): NonNullable<SolveTrace['estimate']> {
  const workers = new Map(run.workers.map((worker) => [worker.id, worker]));
  const last = plan.steps.at(-1);
  const worstCasesOfStep = (step: Step): WorstCase[] => {
    const { worker: id, subtask, sees } = step;
    if (id === CONDUCTOR_ID) return [{ tokens: 0, nanoUsd: 0 }];
    const worker = workers.get(id);
    if (worker === undefined) return [{ tokens: 0, nanoUsd: null }];
    const seen = sees.flatMap((index) => {
      const earlier = plan.steps[index];
      const output = kept[index] ?? outputToCome(workers.get(earlier?.worker ?? ''));
      return earlier ? [{ ...earlier, step: index, output }] : [];
    });
    const asked = { question, conversation, answerSchema: step === last ? answerSchema : undefined };
    const bytes = workerPromptBytes({ ...asked, subtask, sees: seen, background, worker });
    const { maxOutputTokens } = step === last ? answerRoom(worker, maxAnswerTokens) : {};
    return turnsOf(worker, run).map((before) => {
      // What an earlier turn and its result add; a token of an answer counts as a byte.
      const { resultBytes = 0 } = run.toolset ?? {};
      const added = before * ((worker.kind === 'model' ? worker.maxOutputTokens : 0) + resultBytes);
      const worst = worstCaseOf(worker, bytes + added, maxOutputTokens);
      return isEndless(worker, run) ? { ...worst, nanoUsd: null } : worst;
    });
  };
  const left = plan.steps.filter((_, index) => (kept[index] ?? null) === null);
  const cases = left.flatMap(worstCasesOfStep);
  const ownSteps = left.filter(({ worker }) => worker === CONDUCTOR_ID).length;
  return {
    calls: cases.length,
    tokens: cases.reduce((sum, { tokens }) => sum + tokens, 0),
    nanoUsd: cases.reduce(
      addCost,
      priceOfTools(
        left.flatMap(({ worker }) => workers.get(worker) ?? []),
        run,
      ),
    ),
    ...(ownSteps > 0 && { ownSteps }),
  };
}

/** Adds a cost to a sum; one unknown cost leaves the sum unknown. */
function addCost(sum: number | null, { nanoUsd }: WorstCase): number | null {
  return sum === null || nanoUsd === null ? null : sum + nanoUsd;
}

/** Returns the most that the calls of tools of these workers may cost. */
function priceOfTools(workers: readonly RunWorker[], { toolset }: Pick<ResolvedRun, 'toolset'>): number {
  const listed = workers.flatMap((worker) => (worker.kind === 'model' ? (worker.tools ?? []) : []));
  const entries = new Set(listed.map((name) => name.split('.')[0]));
  const prices = (toolset?.cards ?? [])
    .filter(({ name }) => entries.has(name))
    .map((card) => (card.kind === 'caller' ? 0 : (nanoUsdOfCall(card) ?? 0)));
  return (toolset?.calls ?? 0) * Math.max(0, ...prices);
}

/** Returns the turns that a step may take, each by the number of turns before it: one, unless its worker has tools. */
function turnsOf(worker: RunWorker, { toolset }: Pick<ResolvedRun, 'toolset'>): number[] {
  const hasTools = toolset !== undefined && worker.kind === 'model' && (worker.tools ?? []).length > 0;
  return Array.from({ length: hasTools ? toolset.turns + 1 : 1 }, (_, before) => before);
}

/** Whether the caller decides how many turns a step of a worker takes. */
function isEndless(worker: RunWorker, { toolset }: Pick<ResolvedRun, 'toolset'>): boolean {
  return toolset !== undefined && worker.kind === 'model' && (worker.tools ?? []).includes(CALLER_TOOLS);
}

/** Returns a placeholder for an answer not written yet, with one byte for each token that it may have. */
function outputToCome(worker: RunWorker | undefined): Text {
  return { ref: '', bytes: worker?.kind === 'model' ? worker.maxOutputTokens : 0, preview: '' };
}
