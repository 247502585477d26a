import { defineUpdate, setHandler } from '@temporalio/workflow';
import { type CallDecision, findDecisionProblem } from '../../protocol/call-decision';
import type { Sender } from '../../protocol/messages';
import { DECIDE_CALL_UPDATE } from '../../protocol/names';
import { badMessage, noteMessage, refuseFor } from '../heed-message';
import type { RunStart } from '../run-context';
import type { CallVerdict } from './call-approval';

/** Update: decides on a call of a tool that waits for a person. One that repeats a decision changes nothing. */
export const decideCallUpdate = defineUpdate<null, [CallDecision, Sender?]>(DECIDE_CALL_UPDATE);

export function listenForDecisions(start: RunStart): void {
  const { callApproval } = start;
  const decide = (decision: CallDecision, sender?: Sender): null => {
    const { call } = decision;
    if (callApproval.verdictOn(call) === null) {
      noteMessage(start, DECIDE_CALL_UPDATE, [decision, sender]);
      callApproval.decide(call, verdictOf(decision));
    }
    return null;
  };
  setHandler(decideCallUpdate, decide, {
    validator: (...[decision]: [CallDecision, Sender?]) => {
      refuseFor(findDecisionProblem(decision));
      const { call } = decision;
      const before = callApproval.verdictOn(call);
      if (before === undefined) {
        throw badMessage(
          `no call ${call} waits in this run: see what waits, and in which run, with "temporal-conductor trace"`,
        );
      }
      if (before === null || JSON.stringify(before) === JSON.stringify(verdictOf(decision))) return;
      throw badMessage(`call ${call} was ${before.isApproved ? 'approved' : 'rejected'} already`);
    },
  });
}

function verdictOf({ approve, reason = '', arguments: changed }: CallDecision): CallVerdict {
  if (!approve) return { isApproved: false, reason };
  return { isApproved: true, ...(changed !== undefined && { input: JSON.stringify(changed) }) };
}
