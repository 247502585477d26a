import type { LedgerRow } from '../../src/store/ledger';
import type { Evidence, Finding, Keeping } from './evidence';

/** Between a look into the store, which still found nothing, and the row that follows it on a busy machine. */
const LOOK_MS = 250;

/**
 * No call is made again once its answer, or the id of its answer in the background, was in the store.
 *
 * Every request is preceded by a row under its call id, so a request made in vain is a row begun after the keeping.
 */
export function auditRepeats({ rows, keepings }: Evidence): Finding[] {
  const first = new Map<string, Keeping>();
  for (const keeping of keepings) {
    const known = first.get(keeping.callId);
    if (known === undefined || keeping.at < known.at) first.set(keeping.callId, keeping);
  }
  return rows.flatMap((row) => {
    const kept = first.get(row.callId);
    return kept !== undefined && Date.parse(row.startedAt) > kept.at + LOOK_MS ? [repeatOf(row, kept)] : [];
  });
}

function repeatOf(row: LedgerRow, { what, at }: Keeping): Finding {
  return {
    law: `no call is made again once its ${what} is in the store`,
    difference:
      `call ${row.callId.slice(0, 8)} of ${row.worker} was begun again as attempt ${row.attempt} at ${row.startedAt}, ` +
      `and its ${what} had been kept at ${new Date(at).toISOString()}`,
    run: row.workflowId,
  };
}
