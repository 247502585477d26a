import type { Plan, Step } from '../plan/plan';
import type { Background } from '../protocol/activities';
import { CONDUCTOR_ID } from '../protocol/names';
import type { ResolvedRun, RunWorker } from '../protocol/run';
import type { Text } from '../protocol/text';
import { workerPromptBytes, type WorstCase, worstCaseOf } from './worst-case';

/** What a plan may come to, told before its first step. */
export interface Estimate {
  readonly calls: number;
  readonly tokens: number;
  /** 10⁻⁹ USD; null where a price is unknown. */
  readonly nanoUsd: number | null;
  /** Steps of the Conductor's own, of which nothing is counted but a call: their plans are not written yet. */
  readonly ownSteps?: number;
}

/**
 * The most that a plan may cost where every step is asked once and answered by its planned worker.
 *
 * A step that sees others reads answers that are not written yet: each counts as many tokens as its worker may write,
 * which is close and no bound, since two models split a text differently. Of the user's own activities and workflows
 * nothing but a call is counted, and nothing more of the Conductor's own steps.
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
  const ownSteps = plan.steps.filter(({ worker }) => worker === CONDUCTOR_ID).length;
  const known = cases.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0);
  return {
    calls: cases.length,
    tokens: cases.reduce((sum, { tokens }) => sum + tokens, 0),
    nanoUsd: cases.every(({ nanoUsd }) => nanoUsd !== null) ? known : null,
    ...(ownSteps > 0 && { ownSteps }),
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
  if (id === CONDUCTOR_ID) return { tokens: 0, nanoUsd: 0 };
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
