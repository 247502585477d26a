import { STALL_MS } from '../../research/support/troubles';
import type { Keeping } from '../../research/support/worker';
import { groupBy } from '../../src/statistics/tally';
import type { LedgerRow } from '../../src/store/ledger';
import { type Evidence, type Finding, finding, type Kill } from './evidence';
import { FROZEN_MS } from './worker-fleet';

/** Longest time from a lookup that found nothing to the row that follows it; both rates and row may stall. */
const LOOK_MS = 2 * STALL_MS + 250;

/**
 * Checks that no call is made again once its answer, or the id of its answer in the background, is in the store.
 *
 * A row under its call id precedes every request, so a needless request shows as a row begun after the keeping. An
 * answer in the background may come to nothing, which completes its row; its id is a reason to wait only until then.
 */
export function auditRepeats({ rows, keepings, kills }: Evidence): Finding[] {
  const byCall = groupBy(rows, ({ callId }) => callId);
  const overlaps = [...byCall.values()].flatMap((attempts) => overlapsIn(attempts, kills));
  const repeats = keepings.flatMap((kept) => {
    const others = byCall.get(kept.callId)?.filter(({ attempt }) => attempt !== kept.attempt) ?? [];
    const own = byCall.get(kept.callId)?.find(({ attempt }) => attempt === kept.attempt);
    const until = kept.what === 'answer' ? null : (own?.endedAt ?? null);
    return others
      .filter(({ startedAt }) => isInVain(startedAt, kept, until))
      .map((row) => repeatOf(row, kept));
  });
  return [...repeats, ...overlaps];
}

/** Victims whose end never makes a model call begin again. */
const HARMLESS: ReadonlySet<Kill['victim']> = new Set(['providers', 'tools over stdio', 'tools over HTTP']);

/** Finds overlapping attempts of a call that no kill explains: a slow store alone must not cause any. */
function overlapsIn(attempts: readonly LedgerRow[], kills: Evidence['kills']): Finding[] {
  const rows = attempts.toSorted((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt));
  return rows.slice(1).flatMap((next, index) => {
    const row = rows[index];
    if (row === undefined) return [];
    const [from, to] = [Date.parse(row.startedAt) - FROZEN_MS - STALL_MS, Date.parse(next.startedAt)];
    const isOver = row.endedAt !== null && Date.parse(row.endedAt) <= to;
    const isExplained = kills.some(({ victim, at }) => !HARMLESS.has(victim) && from <= at && at <= to);
    if (isOver || isExplained) return [];
    const difference = `call ${row.callId.slice(0, 8)} of ${row.worker}: attempt ${next.attempt} began at ${next.startedAt}, before attempt ${row.attempt} was over`;
    return [
      finding('a call is attempted again only when its attempt is over or lost', difference, row.workflowId),
    ];
  });
}

function isInVain(startedAt: string, { at }: Keeping, until: string | null): boolean {
  const began = Date.parse(startedAt);
  return began > at + LOOK_MS && (until === null || began < Date.parse(until));
}

function repeatOf(row: LedgerRow, { what, at }: Keeping): Finding {
  const difference =
    `call ${row.callId.slice(0, 8)} of ${row.worker} was begun again as attempt ${row.attempt} at ${row.startedAt}, ` +
    `and its ${what} had been kept at ${new Date(at).toISOString()}`;
  return finding(`no call is made again once its ${what} is in the store`, difference, row.workflowId);
}
