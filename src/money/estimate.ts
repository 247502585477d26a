import type { Plan, Step } from '../plan/plan';
import type { Background } from '../protocol/parent';
import type { ResolvedRun, RunWorker } from '../protocol/run';
import type { Text } from '../protocol/text';
import { workerPromptBytes } from './worker-prompt-bytes';
import { worstCaseOf, type WorstCase } from './worst-case';

/** What a plan may come to, told before its first step. */
export interface Estimate {
  readonly calls: number;
  readonly tokens: number;
  /** 10⁻⁹ USD; null where a price is unknown. */
  readonly nanoUsd: number | null;
  /** Ids of the planned workers whose price nobody knows, in the order of the plan. */
  readonly unknown: readonly string[];
}

/**
 * The most that a plan may cost where every step is asked once and answered by its planned worker.
 *
 * A step that sees others reads answers that are not written yet: each counts as many tokens as its worker may write,
 * which is close and no bound, since two models split a text differently. Of the user's own activities and workflows,
 * and of the Conductor as a worker, nothing but a call is counted.
 */
export function estimatePlan(
  plan: Plan,
  run: ResolvedRun,
  question: Text,
  background: readonly Background[],
): Estimate {
  const workers = new Map(run.workers.map((worker) => [worker.id, worker]));
  const cases = plan.steps.map((step, index) =>
    worstCaseOfStep({ plan, workers, question, background }, step, index),
  );
  const unknown = plan.steps.flatMap(({ worker }, index) => (cases[index]?.nanoUsd === null ? [worker] : []));
  const known = cases.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
  return {
    calls: cases.length,
    tokens: cases.reduce((sum, { tokens }) => sum + tokens, 0),
    nanoUsd: unknown.length === 0 ? known : null,
    unknown: [...new Set(unknown)],
  };
}

interface Planned {
  readonly plan: Plan;
  readonly workers: ReadonlyMap<string, RunWorker>;
  readonly question: Text;
  readonly background: readonly Background[];
}

function worstCaseOfStep(planned: Planned, { worker: id, subtask, sees }: Step, index: number): WorstCase {
  const { plan, workers, question, background } = planned;
  const worker = workers.get(id);
  if (worker?.kind !== 'model') return { tokens: 0, nanoUsd: null };
  const seen = sees.flatMap((step) => {
    const earlier = plan.steps[step];
    return earlier === undefined
      ? []
      : [{ ...earlier, step, output: outputToCome(workers.get(earlier.worker)) }];
  });
  const request = { question, subtask, sees: seen, round: 0, step: index, worker, background };
  return worstCaseOf(worker, workerPromptBytes(request), worker.maxOutputTokens);
}

/** An answer that is yet to be written, a byte for each token that it may have. */
function outputToCome(worker: RunWorker | undefined): Text {
  return { ref: '', bytes: worker?.kind === 'model' ? worker.maxOutputTokens : 0, preview: '' };
}
