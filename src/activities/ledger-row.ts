import type { Info } from '@temporalio/activity';
import { chargeOf, savedByCache } from '../budget/nano-usd';
import type { BookedCall } from '../protocol/activity-contract';
import { createRow, type LedgerRow, type OpenRow, writeRow } from '../store/ledger';
import type { Store } from '../store/store';
import type { ModelCall } from './send-request';
import type { Ended } from './models/failure';

/** Returns the fields that all rows of a call share while they are open. */
export function openRowOf(
  { rootId, purpose, round, step, worker, card }: ModelCall,
  callId: string,
  info: Pick<Info, 'workflowExecution'>,
): OpenRow {
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  const { model, priceVersion } = card;
  const unknown = { error: null, usage: null, nanoUsd: null, endedAt: null };
  return { callId, rootId, workflowId, runId, purpose, round, step, worker, model, priceVersion, ...unknown };
}

export function closeRow(
  row: LedgerRow,
  { card: { price } }: Pick<ModelCall, 'card'>,
  ended: Ended,
): LedgerRow & { readonly endedAt: string } {
  const failure = ended.kind === 'failed' ? ended.failure : null;
  const error = failure && { type: failure.type, message: failure.message };
  return { ...row, error, ...chargesOf(ended, price), endedAt: new Date().toISOString() };
}

function chargesOf(
  ended: Ended,
  price: ModelCall['card']['price'],
): Pick<LedgerRow, 'usage' | 'nanoUsd' | 'reportedNanoUsd' | 'savedNanoUsd'> {
  const { usage = null, reportedNanoUsd: reported = null } = ended.reply ?? {};
  if (ended.kind === 'failed' && ended.failure.billed === 'no') return { usage, nanoUsd: 0 };
  const nanoUsd = chargeOf(usage, price, reported);
  const saved = savedByCache(usage, price);
  return {
    usage,
    nanoUsd,
    ...(reported !== null && reported !== nanoUsd && { reportedNanoUsd: reported }),
    ...(saved !== null && saved !== 0 && { savedNanoUsd: saved }),
  };
}

/**
 * Books a call that the workflow makes by itself: opens its row, or completes it. An open row holds the worst-case
 * cost. A completed row is never reopened, however late an attempt to open it arrives.
 */
export async function bookCall(
  store: Store,
  { rootId, call, startedAt, endedAt }: BookedCall,
  info: Pick<Info, 'workflowExecution'>,
): Promise<void> {
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  const row = { ...call, rootId, workflowId, runId, priceVersion: 'card', startedAt, endedAt };
  if (endedAt === null) await createRow(store, row);
  else await writeRow(store, row);
}
