import { groupBy } from '../../src/statistics/tally';
import type { LedgerRow } from '../../src/store/ledger';
import type { RequestRecord } from '../../src/testing';
import { type Evidence, type Finding, finding } from './evidence';
import { placeOf } from './scenario';

/** Longest time from the start of an open row to the kill that explains it, including stalls of the store. */
const LONGEST_CALL_MS = 40_000;

/**
 * Checks the ledger against the providers' own log.
 *
 * Both are grouped by solve, step and model. Within a group, a request and a row match if their amounts agree, and the
 * request names the call of the row or, where it names none, came while the row was open. Each request must have a row of its own, and each
 * row with an amount must have a request of its own. (By the theorem of Mendelsohn and Dulmage, one pairing then serves
 * both.)
 */
export function auditLedger(evidence: Evidence): Finding[] {
  const rows = groupBy(evidence.rows, (row) => keyOf(row.rootId, row.step, row.worker));
  const requests = groupBy(evidence.requests.filter(isPurchase), requestKey);
  const keys = new Set([...rows.keys(), ...requests.keys()]);
  return [
    ...[...keys].flatMap((key) => auditPlace(key, requests.get(key) ?? [], rows.get(key) ?? [])),
    ...auditOpenRows(evidence),
  ];
}

function auditPlace(key: string, requests: readonly RequestRecord[], rows: readonly LedgerRow[]): Finding[] {
  const run = key.split(' ')[0] ?? null;
  const booked = rows.filter(({ nanoUsd }) => (nanoUsd ?? 0) > 0);
  const withoutRow = pairUp(requests, rows, canPair);
  const withoutRequest = pairUp(booked, requests, (row, request) => canPair(request, row));
  const seen = `at ${key} there are ${requests.map(describeRequest).join('; ')} and ${rows.map(describeRow).join('; ')}`;
  const rowLaw =
    'every request that a provider saw has its row in the ledger, and completed rows equal the bill';
  const billLaw = 'every amount in the ledger was billed';
  return [
    ...withoutRow.map((request) => finding(rowLaw, `${describeRequest(request)} has no row: ${seen}`, run)),
    ...withoutRequest.map((row) => finding(billLaw, `${describeRow(row)} has no request: ${seen}`, run)),
  ];
}

/**
 * Checks that a row stays open only if its worker was killed during the call, or if its run was cancelled while the
 * vendor wrote the answer in the background and no poll was under way.
 */
function auditOpenRows({ rows, kills, runs, keepings }: Evidence): Finding[] {
  const deaths = kills.filter(({ victim }) => victim === 'worker').map(({ at }) => at);
  const begun = new Set(keepings.filter(({ what }) => what === 'background id').map(({ callId }) => callId));
  const open = rows.filter(({ endedAt }) => endedAt === null);
  return open
    .filter(({ startedAt }) => {
      const began = Date.parse(startedAt);
      return !deaths.some((at) => began <= at && at <= began + LONGEST_CALL_MS);
    })
    .filter(({ callId, workflowId }) => !begun.has(callId) || runs.get(workflowId)?.status !== 'cancelled')
    .map((row) => {
      const difference = `${describeRow(row)} is open, and no worker was killed within ${LONGEST_CALL_MS / 1000} s`;
      return finding('a row stays open only where its worker was killed', difference, row.workflowId);
    });
}

/** Whether a request buys an answer: polling or cancelling one in the background is free, and has no row. */
export function isPurchase({ path }: RequestRecord): boolean {
  return !path.startsWith('/v1/responses/');
}

function requestKey(request: RequestRecord): string {
  const place = placeOf(request);
  return keyOf(place?.id ?? 'no solve', place?.step ?? null, request.model ?? 'no model');
}

function keyOf(id: string, step: number | null, model: string): string {
  return `${id} ${step === null ? 'plan' : `step ${step}`} ${model}`;
}

function describeRequest({ sequence, outcome, nanoUsd, receivedAt }: RequestRecord): string {
  const came = new Date(receivedAt).toISOString();
  return `request ${sequence} (${outcome ?? 'cut off'}, ${nanoUsd ?? 'no'} nano-USD, came ${came})`;
}

function describeRow({ callId, attempt, error, nanoUsd, startedAt, endedAt }: LedgerRow): string {
  const state = endedAt === null ? 'open' : (error?.type ?? 'answered');
  const times = `${startedAt} to ${endedAt ?? 'no end'}`;
  return `row ${callId.slice(0, 8)}/${attempt} (${state}, ${nanoUsd ?? 'unknown'} nano-USD, ${times})`;
}

/** Tolerance between the clocks of two processes of one machine, each of which counts on from its own start. */
export const CLOCK_MS = 250;

function canPair(request: RequestRecord, row: LedgerRow): boolean {
  if (row.nanoUsd !== null && row.nanoUsd !== (request.nanoUsd ?? 0)) return false;
  const end = row.endedAt === null ? Infinity : Date.parse(row.endedAt);
  const came = request.receivedAt;
  if (came < Date.parse(row.startedAt) - CLOCK_MS) return false;
  // A provider may read a request long after the worker gave it up, so a name counts for more than the time.
  const named = request.headers['x-client-request-id'];
  return named === undefined ? came <= end + CLOCK_MS : named === row.callId;
}

/**
 * Returns the things without a partner in a maximum matching (Kuhn's algorithm: a new thing may move others to another
 * partner).
 */
function pairUp<A, B>(
  things: readonly A[],
  partners: readonly B[],
  fits: (thing: A, partner: B) => boolean,
): A[] {
  const taken = new Map<B, A>();
  const place = (thing: A, tried: Set<B>): boolean =>
    partners.some((partner) => {
      if (tried.has(partner) || !fits(thing, partner)) return false;
      tried.add(partner);
      const holder = taken.get(partner);
      if (holder !== undefined && !place(holder, tried)) return false;
      taken.set(partner, thing);
      return true;
    });
  return things.filter((thing) => !place(thing, new Set()));
}
