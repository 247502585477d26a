import { activityInfo } from '@temporalio/activity';
import { findBegun } from '../store/background';
import type { LedgerRow } from '../store/ledger';
import { openRow } from './attempt';
import { processLost, requestsSpent } from './call-details';
import type { BackgroundAnswer } from './call-in-background';
import type { Dependencies } from './dependencies';
import type { ModelCall } from './model-call';

/**
 * Finds the answer that a vendor may still be writing for a call; else opens the ledger row of a new request.
 *
 * @throws ApplicationFailure where no further request may be sent
 */
export async function openRequest(
  { store }: Dependencies,
  call: ModelCall,
  callId: string,
  earlier: readonly LedgerRow[],
): Promise<BackgroundAnswer> {
  const begun = call.card.background === true ? await findBegun(store, callId) : null;
  const row = earlier.find(({ attempt, endedAt }) => attempt === begun?.attempt && endedAt === null);
  if (begun !== null && row !== undefined) return { row, id: begun.id };

  const { requests, billable } = call.allowance;
  if (earlier.length >= requests) throw requestsSpent(call, earlier);
  if (earlier.filter(mayBeBilled).length >= billable) throw processLost(call, earlier);
  const identity = { callId, attempt: earlier.length + 1, info: activityInfo() };
  return { row: await openRow(store, call, identity), id: null };
}

/** Sent by a process that was lost, or broken off: nobody knows what became of it. */
function mayBeBilled({ nanoUsd }: LedgerRow): boolean {
  return nanoUsd !== 0;
}
