import type { WorkerRequest } from '../protocol/activities';
import type { Call, Problem, Usage } from '../protocol/call';

/**
 * A call that has no row in our ledger: made by the user's own activity or workflow, or by a worker process that
 * vanished without a word. It counts, with an unknown cost, so that no sum claims more than is known.
 */
export function unaccountedCall(request: WorkerRequest, error: Problem | null, usage: Usage | null): Call {
  const { round, step, worker } = request;
  return {
    callId: `unaccounted/${round}/${step}/${worker.id}`,
    purpose: 'step',
    round,
    step,
    attempt: 1,
    worker: worker.id,
    model: worker.kind === 'model' ? worker.model : worker.type,
    error,
    usage,
    nanoUsd: null,
  };
}
