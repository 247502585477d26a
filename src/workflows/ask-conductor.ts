import { worstCaseOf } from '../money/worst-case';
import { conductorPromptBytes } from '../money/prompt-bytes';
import type { WritePlanRequest, WritePlanResult } from '../protocol/activities';
import type { Call } from '../protocol/call';
import { WRITE_PLAN } from '../protocol/names';
import { unaccountedCall } from '../trace/unaccounted-call';
import type { CallFailure } from '../trace/read-failure';
import { modelActivities } from './activities';
import { readCallFailure } from './failure';
import type { RunContext } from './run-context';

/** What came of one call of the Conductor: a plan, a reply that is none, or a failure. */
export type Outcome = WritePlanResult | CallFailure;

/** Asks the Conductor once, if the limits allow it, and books what it cost. */
export async function askConductor(context: RunContext, request: WritePlanRequest): Promise<Outcome> {
  const { run, limits, recorder } = context;
  const { conductor, heartbeatMs } = run;
  const worst = worstCaseOf(conductor, conductorPromptBytes(request, run), conductor.maxOutputTokens);
  const outcome = await readOutcome(async () => {
    const { allowance, settle } = await limits.reserve(worst);
    ...
  });
}
