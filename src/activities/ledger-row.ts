import { createHash } from 'node:crypto';
import type { Info } from '@temporalio/activity';
import { billOf } from '../budget/nano-usd';
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
  const row: LedgerRow = {
    callId: identity.callId,
    rootId: call.rootId,
    workflowId: identity.info.workflowExecution?.workflowId ?? '',
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
export interface AttemptOutcome {
  readonly error: Problem | null;
  readonly usage: Usage | null;
  /** `no`: surely free. `yes`: by its usage. `unknown`: the row stays without an amount. */
  readonly billed: 'no' | 'yes' | 'unknown';
  /** What the provider says it charged, which wins over our own reckoning. */
  readonly reportedNanoUsd: number | null;
}

/** The row of a request that is over. */
export function closeRow(row: LedgerRow, call: ModelCall, outcome: AttemptOutcome): ClosedRow {
  const { error, usage } = outcome;
  return { ...row, error, usage, nanoUsd: amountOf(call, outcome), endedAt: new Date().toISOString() };
}

function amountOf({ card }: ModelCall, { billed, usage, reportedNanoUsd }: AttemptOutcome): number | null {
  if (billed === 'no') return 0;
  if (reportedNanoUsd !== null) return reportedNanoUsd;
  return billed === 'unknown' ? null : billOf(usage, card.price);
}

/**
 * The name of one call: SHA-256 over workflow id, run id, activity id and the request itself.
 *
 * Retries of an activity share it, so that the next attempt finds an answer kept under it; another activity, run or
 * request never does. A call with an identity of its own is named by that identity and its place in the plan instead,
 * so that another run which repeats it finds the answer too.
 */
export function callIdOf(
  { workflowExecution, activityId }: Pick<Info, 'workflowExecution' | 'activityId'>,
  { identity, round, step, worker }: Pick<ModelCall, 'identity' | 'round' | 'step' | 'worker'>,
  request: unknown,
): string {
  if (identity !== undefined) return sha256Of([identity, round, step, worker, request]);
  return sha256Of([workflowExecution?.workflowId ?? '', workflowExecution?.runId ?? '', activityId, request]);
}

function sha256Of(identity: unknown): string {
  return createHash('sha256').update(JSON.stringify(identity, sortedKeys)).digest('hex');
}

/** JSON with keys in one order, so that equal requests have equal bytes. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
