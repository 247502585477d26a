import { conductorPromptBytes } from '../money/conductor-prompt-bytes';
import { worstCaseOf, type WorstCase } from '../money/worst-case';
import type { WritePlanRequest, WritePlanResult } from '../protocol/activities';
import { CONDUCTOR_ID, WRITE_PLAN } from '../protocol/names';
import type { ResolvedRun } from '../protocol/run';
import { conductorCalled } from '../trace/call-events';
import type { CallFailure } from '../trace/read-failure';
import { modelActivities, queueFor, type Patience } from './activities';
import { readCallFailure } from './failure';
import type { Reservation } from './limits';
import type { RunContext } from './run-context';

/** What came of one call of the Conductor: a plan, a reply that is none, or a failure. */
export type Outcome = WritePlanResult | CallFailure;

/** Asks the Conductor once, if the limits allow it, and books what that came to. */
export async function askConductor(context: RunContext, request: WritePlanRequest): Promise<Outcome> {
  const { run, limits, recorder } = context;
  let reservation: Reservation;
  try {
    reservation = await limits.reserve(worstCaseOfPlan(request, run));
  } catch (error) {
    return readCallFailure(error, CONDUCTOR_ID);
  }
  const { heartbeatMs, conductor } = run;
  const patience = { remainingMs: limits.remainingMs(), heartbeatMs, ...queueFor(run, conductor) };
  const outcome = await sendToConductor({ ...request, allowance: reservation.allowance }, patience);
  const called = conductorCalled(request, outcome);
  reservation.settle(called.calls);
  recorder.record(called);
  return outcome;
}

/** The call itself. */
export async function sendToConductor(
  request: WritePlanRequest,
  patience: Omit<Patience, 'summary'>,
): Promise<Outcome> {
  const conductor = modelActivities({ ...patience, summary: summaryOf(request) });
  try {
    return await conductor[WRITE_PLAN](request);
  } catch (error) {
    return readCallFailure(error, CONDUCTOR_ID);
  }
}

/** What one request of the Conductor's may come to. */
export function worstCaseOfPlan(request: WritePlanRequest, run: ResolvedRun): WorstCase {
  const { conductor } = run;
  return worstCaseOf(conductor, conductorPromptBytes(request, run), conductor.maxOutputTokens);
}

function summaryOf({ repairs, review, given }: WritePlanRequest): string {
  if (given !== undefined) return 'check the given plan';
  const what = review === undefined ? 'plan' : 'review';
  return repairs.length === 0 ? what : `${what}, repair ${repairs.length}`;
}
