import { activityInfo, ApplicationFailure, CancelledFailure, Context, type Info } from '@temporalio/activity';
import { keyFor } from '../config/api-keys';
import type { WorkerResult } from '../protocol/activity-contract';
import type { Problem } from '../protocol/call';
import { FAILURES, type FailureType } from '../protocol/failures';
import type { Text } from '../protocol/text';
import {
  callOf,
  findAnswer,
  findBegun,
  keepAnswer,
  type KeptAnswer,
  type LedgerRow,
  type OpenRow,
  rowsOfCall,
  writeRow,
} from '../store/ledger';
import { keepText, TextTooLargeError } from '../store/texts';
import { asFailure } from './as-failure';
import { type BackgroundAnswer, callInBackground, type LeftRunning } from './call-in-background';
import type { Dependencies } from './dependencies';
import { untilWritten } from './heartbeat';
import { callDetails, closeRow, openRow, openRowOf, processLost, requestsSpent } from './ledger-row';
import { callIdOf, type ModelCall, requestIdentity } from './model-call';
import { toApplicationFailure } from './models/failure';
import type { Permit, Report } from './rate-limits/limiter';
import { brokenOff, outcomeOf, sendRequest, type SentRequest } from './send-request';

/**
 * Makes one model call durable. Every model call of the product goes through here.
 *
 * 1. An answer kept under the call id by an earlier attempt is returned, and nothing is sent. A first attempt does not
 *    look for one: the row of step 3 tells whether there were others.
 * 2. An answer that an earlier attempt began in the background is waited for, under the same ledger row.
 * 3. Else a ledger row is created before the request, so no request is ever unaccounted for, and of two live attempts
 *    each has its own; but where the model may not be asked just now, nothing is written or sent, and Temporal calls
 *    again later.
 * 4. One request is sent. In the background it brings an id, which is kept before anyone asks how far the answer is;
 *    asking costs nothing, and opens no row.
 * 5. A usable answer is kept before anyone learns of it; then the row is completed. Both are repeated, with heartbeats,
 *    while the store fails. Where two attempts were answered, the answer that was kept first is the call's.
 *
 * The window in which a crash buys a call twice is the request of step 4 alone: until its answer arrives, or in the
 * background until its id does.
 *
 * @throws ApplicationFailure of a `Provider.*` type, `Worker.Throttled` or `Worker.CircuitOpen`, with `CallFailureDetails`
 */
export async function callModel(dependencies: Dependencies, call: ModelCall): Promise<WorkerResult> {
  const { store, config, env } = dependencies;
  const info = activityInfo();
  const callId = callIdOf(info, call, requestIdentity(call));
  const blank = openRowOf(call, callId, info);
  // A first attempt skips the lookup; creating the row detects an earlier one.
  let made: MadeRequest | null = null;
  for (let isFirst = isNew(call, info); made === null; isFirst = false) {
    const earlier = isFirst ? [] : await rowsOfCall(store, blank);
    const kept = isFirst ? null : await findAnswer(store, callId);
    if (kept !== null) {
      // The attempt that kept it may have died before it completed its row.
      await untilWritten(() => writeRow(store, kept.row));
      return answered(kept, earlier);
    }
    const apiKey = await asFailure(() => keyFor(call.card, config, env), callDetails(earlier));
    made = await makeRequest(dependencies, call, { blank, apiKey, earlier });
  }
  const { row, sent, others } = made;
  if (sent.kind === 'left-running') throw comeBackLater(sent, [...others, row]);
  if (sent.kind !== 'answered') {
    const failure = await bookFailure(dependencies, call, sent, row, others);
    const found = await findAnswer(store, callId);
    if (found === null) throw failure;
    // Another attempt was answered. Where both waited for one answer in the background, the row is that one's.
    await untilWritten(() => writeRow(store, found.row));
    return answered(found, await rowsOfCall(store, blank));
  }

  const output = await keepOutput(dependencies, call, sent, row, others);
  const answer = { output, dropped: sent.reply.dropped, row: closeRow(row, call, outcomeOf(sent)) };
  const first = await untilWritten(() => keepAnswer(store, answer));
  await untilWritten(() => writeRow(store, answer.row));
  return answered(first, [...others, answer.row]);
}

/** Another run may have made a call that has an identity of its own, and an answer in the background has no row to it. */
function isNew({ identity, card }: ModelCall, { attempt }: Pick<Info, 'attempt'>): boolean {
  return attempt === 1 && identity === undefined && card.background !== true;
}

function withoutRow(rows: readonly LedgerRow[], { attempt }: LedgerRow): LedgerRow[] {
  return rows.filter((row) => row.attempt !== attempt);
}

function answered({ output, dropped, row }: KeptAnswer, rows: readonly LedgerRow[]): WorkerResult {
  const { startedAt, endedAt } = row;
  return { output, calls: [...withoutRow(rows, row), row].map(callOf), dropped, startedAt, endedAt };
}

/** Has Temporal call again for the answer that the vendor is writing: not having it yet costs nothing. */
function comeBackLater(
  { problem, nextRetryDelayMs }: LeftRunning,
  rows: readonly LedgerRow[],
): ApplicationFailure {
  return ApplicationFailure.create({
    ...problem,
    details: [callDetails(rows)],
    nextRetryDelay: nextRetryDelayMs ?? undefined,
  });
}

type Answered = Extract<SentRequest, { kind: 'answered' }>;

async function keepOutput(
  { store }: Dependencies,
  call: ModelCall,
  sent: Answered,
  row: LedgerRow,
  earlier: readonly LedgerRow[],
): Promise<Text> {
  try {
    return await untilWritten(() => keepText(store, sent.reply.text));
  } catch (error) {
    if (!(error instanceof TextTooLargeError)) throw error;
    const message = `worker ${call.worker} (${call.card.model}) answered with ${error.message}`;
    const problem = { type: FAILURES.textTooLarge, message };
    const closed = closeRow(row, call, { ...outcomeOf(sent), error: problem });
    await untilWritten(() => writeRow(store, closed));
    const details = [callDetails([...earlier, closed])];
    throw ApplicationFailure.create({ ...problem, nonRetryable: true, details });
  }
}

/** Completes the row of a request without a usable answer, and makes the failure that reports it. */
async function bookFailure(
  { store }: Dependencies,
  call: ModelCall,
  sent: Exclude<SentRequest, Answered>,
  row: LedgerRow,
  earlier: readonly LedgerRow[],
): Promise<Error> {
  const closed = closeRow(row, call, outcomeOf(sent));
  await untilWritten(() => writeRow(store, closed));
  const rows = [...earlier, closed];
  if (sent.kind === 'broken-off') return brokenOffFailure(sent.problem, rows);
  const { partial } = sent;
  // Waiting for one more that will not be sent would only make the bad news late.
  if (sent.failure.retryable && rows.length >= call.allowance.requests) return requestsSpent(call, rows);
  return toApplicationFailure(sent.failure, {
    ...callDetails(rows),
    dropped: sent.reply?.dropped ?? [],
    partial: partial === null ? undefined : await untilWritten(() => keepText(store, partial)),
  });
}

/** Also a call that was cancelled tells its run what was sent for it: it may have been billed. */
function brokenOffFailure({ type, message }: Problem, rows: readonly LedgerRow[]): Error {
  const details = [callDetails(rows)];
  if (type === FAILURES.cancelled) return new CancelledFailure(message, details);
  return ApplicationFailure.create({ type, message, details });
}

/** A call before a request is made for it. */
interface CallSoFar {
  readonly blank: OpenRow;
  readonly apiKey: string | null;
  /** The requests already sent for it. */
  readonly earlier: readonly LedgerRow[];
}

/** A request, the row that it is paid under, and the other rows of its call. */
interface MadeRequest {
  readonly row: LedgerRow;
  readonly sent: SentRequest | LeftRunning;
  readonly others: readonly LedgerRow[];
}

/**
 * Waits for the answer that a vendor may still be writing for a call; else, if the model may be asked now, opens a row
 * in the ledger and sends a request.
 *
 * @returns null where another attempt has opened that row: there may be an answer by now, or no request left
 * @throws ApplicationFailure where no further request may be sent: for good, or until there is room
 */
async function makeRequest(
  dependencies: Dependencies,
  call: ModelCall,
  soFar: CallSoFar,
): Promise<MadeRequest | null> {
  const { store, pacing } = dependencies;
  const { blank, apiKey, earlier } = soFar;
  const running = call.card.background === true ? await findRunning(dependencies, soFar) : null;
  if (running !== null) {
    const sent = await callInBackground(dependencies, call, apiKey, running);
    return { row: running.row, sent, others: withoutRow(earlier, running.row) };
  }
  if (Context.current().cancellationSignal.aborted)
    throw brokenOffFailure(brokenOff(null, false).problem, earlier);
  const { requests, billable } = call.allowance;
  if (earlier.length >= requests) throw requestsSpent(call, earlier);
  if (earlier.filter(mayBeBilled).length >= billable) throw processLost(call, earlier);
  const permit = await pacing.enter(call, earlier);
  let report = NOTHING_LEARNT;
  try {
    const row = await openRow(store, blank, (earlier.at(-1)?.attempt ?? 0) + 1);
    if (row === null) return null;
    const sent = await sendUnlessOver(dependencies, call, { apiKey, row, permit });
    report = reportOf(sent);
    return { row, sent, others: earlier };
  } finally {
    permit.release(report);
  }
}

/** A process that was frozen may have been given up meanwhile: it sends nothing more. */
async function sendUnlessOver(
  dependencies: Dependencies,
  call: ModelCall,
  { apiKey, row, permit }: Pick<CallSoFar, 'apiKey'> & { row: LedgerRow; permit: Permit },
): Promise<SentRequest | LeftRunning> {
  const obstacle = await permit.confirm();
  if (Context.current().cancellationSignal.aborted) return brokenOff(null, false);
  if (obstacle !== null) {
    const problem = {
      type: FAILURES.throttled,
      message: `no request was sent, and it will be tried again: ${obstacle}`,
    };
    return { kind: 'broken-off', problem, wasSent: false, reply: null };
  }
  if (call.card.background === true) return callInBackground(dependencies, call, apiKey, { row, id: null });
  return sendRequest(dependencies, call, { apiKey, callId: row.callId });
}

async function findRunning(
  { store }: Dependencies,
  { blank, earlier }: CallSoFar,
): Promise<BackgroundAnswer | null> {
  const begun = await findBegun(store, blank.callId);
  const row = earlier.find(({ attempt, endedAt }) => attempt === begun?.attempt && endedAt === null);
  return begun === null || row === undefined ? null : { row, id: begun.id };
}

/** Sent by a process that was lost, or broken off: what it came to is unknown. */
function mayBeBilled({ nanoUsd }: LedgerRow): boolean {
  return nanoUsd !== 0;
}

/** Signs that a model is out of order. Any other answer, even a 401 or a refusal, shows that it is there. */
const OUT_OF_ORDER: ReadonlySet<FailureType> = new Set([
  FAILURES.unavailable,
  FAILURES.timeout,
  FAILURES.interrupted,
  FAILURES.badResponse,
]);

/** The report of a request that ended too early to show anything. */
const NOTHING_LEARNT: Report = { tokens: null, health: 'unknown' };

/** Tells the rate limiter of a model about a finished request. */
function reportOf(sent: SentRequest | LeftRunning): Report {
  if (sent.kind === 'left-running') return NOTHING_LEARNT;
  const { usage, billed } = outcomeOf(sent);
  // Servers that do not count say 0, which no request comes to: the reservation is better.
  const counted = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return { tokens: billed === 'no' ? 0 : counted || null, health: healthOf(sent) };
}

function healthOf(sent: SentRequest): Report['health'] {
  if (sent.kind === 'broken-off') return 'unknown';
  return sent.kind === 'failed' && OUT_OF_ORDER.has(sent.failure.type) ? 'bad' : 'good';
}
