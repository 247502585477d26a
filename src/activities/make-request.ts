import { activityInfo } from '@temporalio/activity';
import { findBegun } from '../store/background';
import type { LedgerRow } from '../store/ledger';
import { openRow } from './attempt';
import { processLost, requestsSpent } from './call-details';
import { type BackgroundAnswer, callInBackground } from './call-in-background';
import type { Dependencies } from './dependencies';
import type { ModelCall } from './model-call';
import { NOTHING_LEARNT, reportOf } from './pacing/report-of';
import { sendRequest, type SentRequest } from './send-request';
import type { LeftRunning } from './stop-waiting';

/** A request that is over, or left to the vendor, and the ledger row it is paid under. */
export interface MadeRequest {
  readonly row: LedgerRow;
  readonly sent: SentRequest | LeftRunning;
}

/** What is known of a call before a request is made for it. */
export interface CallSoFar {
  readonly callId: string;
  readonly apiKey: string | null;
  /** The requests sent for it before. */
  readonly earlier: readonly LedgerRow[];
}

/**
 * Waits for the answer that a vendor may still be writing for a call; else, if the model may be asked now, opens a row
 * in the ledger and sends a request.
 *
 * @throws ApplicationFailure where no further request may be sent: for good, or until there is room
 */
export async function makeRequest(
  dependencies: Dependencies,
  call: ModelCall,
  soFar: CallSoFar,
): Promise<MadeRequest> {
  const { store, pacing } = dependencies;
  const { callId, apiKey, earlier } = soFar;
  const running = await findRunning(dependencies, call, soFar);
  if (running !== null) {
    return { row: running.row, sent: await callInBackground(dependencies, call, apiKey, running) };
  }
  const { requests, billable } = call.allowance;
  if (earlier.length >= requests) throw requestsSpent(call, earlier);
  if (earlier.filter(mayBeBilled).length >= billable) throw processLost(call, earlier);
  const passage = pacing.enter(call, earlier);
  let report = NOTHING_LEARNT;
  try {
    const row = await openRow(store, call, { callId, attempt: earlier.length + 1, info: activityInfo() });
    const sent = await send(dependencies, call, apiKey, row);
    report = reportOf(sent);
    return { row, sent };
  } finally {
    passage.leave(report);
  }
}

async function findRunning(
  { store }: Dependencies,
  call: ModelCall,
  { callId, earlier }: CallSoFar,
): Promise<BackgroundAnswer | null> {
  const begun = call.card.background === true ? await findBegun(store, callId) : null;
  const row = earlier.find(({ attempt, endedAt }) => attempt === begun?.attempt && endedAt === null);
  return begun === null || row === undefined ? null : { row, id: begun.id };
}

/** In the background, or over one connection that is held until the answer is whole. */
function send(
  dependencies: Dependencies,
  call: ModelCall,
  apiKey: string | null,
  row: LedgerRow,
): Promise<SentRequest | LeftRunning> {
  return call.card.background === true
    ? callInBackground(dependencies, call, apiKey, { row, id: null })
    : sendRequest(dependencies, call, { apiKey, callId: row.callId });
}

/** Sent by a process that was lost, or broken off: nobody knows what became of it. */
function mayBeBilled({ nanoUsd }: LedgerRow): boolean {
  return nanoUsd !== 0;
}
