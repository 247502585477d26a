import type { WorkerRequest, WritePlanRequest } from '../protocol/activities';
import type { Call, Problem, Usage } from '../protocol/call';
import { CONDUCTOR_ID } from '../protocol/names';
import { purposeOf } from '../protocol/purpose';

// A call that has no row in our ledger: made by the user's own activity or workflow, or by a worker process that
// vanished without a word. It counts, with an unknown cost, so that no sum claims more than is known.

/** Such a call of a step's worker. */
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

/** Such a call of the Conductor. */
export function unaccountedPlan(request: WritePlanRequest, error: Problem): Call {
  const { round, repairs, run } = request;
  return {
    callId: `unaccounted/${round}/${CONDUCTOR_ID}/${repairs.length}`,
    purpose: purposeOf(request),
    round,
    step: null,
    attempt: 1,
    worker: CONDUCTOR_ID,
    model: run?.conductor.model ?? '',
    error,
    usage: null,
    nanoUsd: null,
  };
}
