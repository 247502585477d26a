import type { Keeping } from '../../examples/learn/support/worker';
import type { LedgerRow } from '../../src/store/ledger';
import type { Evidence, Finding } from './evidence';
import { groupBy } from './group-by';

/** Between a look into the store, which still found nothing, and the row that follows it on a busy machine. */
const LOOK_MS = 250;

/**
 * No call is made again once its answer, or the id of an answer that is being written in the background, was in the
 * store.
 *
 * Every request is preceded by a row under its call id, so a request made in vain is a row begun after the keeping. An
 * answer in the background may come to nothing, which completes its row: only until then is its id a reason to wait.
 */
export function auditRepeats({ rows, keepings }: Evidence): Finding[] {
  const byCall = groupBy(rows, ({ callId }) => callId);
  return keepings.flatMap((kept) => {
    const others = byCall.get(kept.callId)?.filter(({ attempt }) => attempt !== kept.attempt) ?? [];
    const own = byCall.get(kept.callId)?.find(({ attempt }) => attempt === kept.attempt);
    const until = kept.what === 'answer' ? null : (own?.endedAt ?? null);
    return others
      .filter(({ startedAt }) => isInVain(startedAt, kept, until))
      .map((row) => repeatOf(row, kept));
  });
}

function isInVain(startedAt: string, { at }: Keeping, until: string | null): boolean {
  const began = Date.parse(startedAt);
  return began > at + LOOK_MS && (until === null || began < Date.parse(until));
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
