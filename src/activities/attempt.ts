import type { Info } from '@temporalio/activity';
import { billOf } from '../money/nano-usd';
import type { Problem, Usage } from '../protocol/call';
import { type LedgerRow, writeRow } from '../store/ledger';
import type { Store } from '../store/store';
import type { ModelCall } from './model-call';

/** A ledger row with its end: answered, failed, or cut off. */
export type ClosedRow = LedgerRow & { readonly endedAt: string };

/** Writes the row of a request that is about to be sent. It stays open for good if this process dies. */
export async function openRow(
  store: Store,
  call: ModelCall,
  identity: { callId: string; attempt: number; info: Pick<Info, 'workflowExecution'> },
): Promise<LedgerRow> {
  const { purpose, round, step, worker, card } = call;
  const workflowId = identity.info.workflowExecution?.workflowId ?? '';
  const row: LedgerRow = {
    callId: identity.callId,
    rootId: call.rootId ?? workflowId,
    workflowId,
    runId: identity.info.workflowExecution?.runId ?? '',
    purpose,
    round,
    step,
    attempt: identity.attempt,
    worker,
    model: card.model,
    error: null,
    usage: null,
    nanoUsd: null,
    priceVersion: card.priceVersion,
    startedAt: new Date().toISOString(),
    endedAt: null,
  };
  await writeRow(store, row);
  return row;
}

/** What became of a request, as far as money goes. */
export interface Outcome {
  readonly error: Problem | null;
  readonly usage: Usage | null;
  /** `no`: surely free. `yes`: by its usage. `unknown`: the row stays without an amount. */
  readonly billed: 'no' | 'yes' | 'unknown';
  /** What the provider says it charged, which wins over our own reckoning. */
  readonly reportedNanoUsd: number | null;
}

/** The row of a request that is over. */
export function closeRow(row: LedgerRow, call: ModelCall, outcome: Outcome): ClosedRow {
  const { error, usage } = outcome;
  return { ...row, error, usage, nanoUsd: amountOf(call, outcome), endedAt: new Date().toISOString() };
}

function amountOf({ card }: ModelCall, { billed, usage, reportedNanoUsd }: Outcome): number | null {
  if (billed === 'no') return 0;
  if (reportedNanoUsd !== null) return reportedNanoUsd;
  return billed === 'unknown' ? null : billOf(usage, card.price);
}
