import { activityInfo, Context, type Info } from '@temporalio/activity';
import { keyFor } from '../config/api-keys';
import type { WorkerResult } from '../protocol/activity-contract';
import type { ModelCard } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import type { Text } from '../protocol/text';
import {
  callOf,
  createRow,
  findAnswer,
  findBegun,
  keepAnswer,
  type KeptAnswer,
  type LedgerRow,
  type OpenRow,
  rowsOfCall,
  writeRow,
} from '../store/ledger';
import { noteRefused } from '../store/refusals';
import type { Store } from '../store/store';
import { keepText, NewTexts, TextTooLargeError } from '../store/texts';
import { asFailure, callDetails, processLost, requestsSpent, toError } from './as-failure';
import { callInBackground, type LeftRunning } from './call-in-background';
import { brokenOff, callIdOf, type Dependencies, type ModelCall, sendRequest } from './send-request';
import { untilWritten } from './heartbeat';
import { closeRow, openRowOf } from './ledger-row';
import { measureCall } from './measure';
import { loadSdk } from './models';
import type { Answered, SentRequest, ProviderFailure, Ended, Failed } from './models/failure';
import { makerOf, type ModelReply } from './models/model';
import type { Permit } from './rate-limits/limiter';
import { NOTHING_LEARNT, rateReportOf } from './rate-limits/report';
import { withThoughtsApart } from './thoughts-apart';
import { endAsking, whileAsking } from './spans/call';
import { keepTurn } from './tool-turns';

/**
 * Makes one model call durable. Every model call of the product goes through here.
 *
 * 1. If an earlier attempt stored an answer under the call id, it is returned and nothing is sent. A first attempt
 *    skips the lookup; creating the row in step 3 detects earlier attempts.
 * 2. If an earlier attempt began an answer in the background, this one waits for it under the same ledger row.
 * 3. Otherwise a ledger row is created before the request, so every request is accounted for, and two live attempts
 *    have one row each. If the model may not be called now, nothing is written or sent, and Temporal retries later.
 * 4. One request is sent. In the background it returns an id, which is stored before the first poll. Polling is free
 *    and opens no row.
 * 5. A usable answer is stored before it is reported, and its row is completed with it. The write is retried, with
 *    heartbeats, while the store fails. If two attempts got an answer, the one stored first becomes the call's.
 *
 * A crash can cause a second charge only during the request of step 4: until its answer arrives, or in the background
 * until its id does.
 * @throws ApplicationFailure of a `Provider.*` type, `Worker.Throttled` or `Worker.CircuitOpen`, with `CallFailureDetails`
 */
export async function callModel(dependencies: Dependencies, call: ModelCall): Promise<WorkerResult> {
  const { store, config, env } = dependencies;
  const info = activityInfo();
  const blank = openRowOf(call, callIdOf(info, call), info);
  // A first attempt skips the lookup; creating the row detects an earlier one.
  let made: MadeRequest | null = null;
  for (let isFirst = isNew(call, info); made === null; isFirst = false) {
    const kept = isFirst ? null : await findAnswer(store, blank.callId);
    if (kept !== null) return takeKept(store, kept, blank);
    const earlier = isFirst ? [] : await rowsOfCall(store, blank);
    const apiKey = await asFailure(() => keyFor(call.card, config, env), callDetails(earlier));
    made = await makeRequest(dependencies, call, { blank, apiKey, earlier });
  }
  const { row, sent: arrived, others } = made;
  if (arrived.kind === 'left-running') throw toError(arrived.failure, [...others, row]);
  // A plan is read with its thoughts: the plan language passes over them.
  const sent = call.purpose === 'step' ? withThoughtsApart(arrived, asSent(call)) : arrived;
  const texts = new NewTexts(store);
  const ended = sent.kind === 'answered' ? takeTexts(texts, call, sent) : sent;
  const closed = closeRow(row, call, ended);
  measureCall(config, call.card, closed);
  endAsking(dependencies, call, ended, closed);
  const rows = [...others, closed];
  if (ended.kind === 'failed') {
    await untilWritten(() => writeRow(store, closed));
    const failure = await toFailure(store, call, ended, rows);
    // Another attempt may have an answer. If both waited for the same background answer, its row overwrites this one.
    const found = await findAnswer(store, blank.callId);
    if (found === null) throw failure;
    return takeKept(store, found, blank);
  }
  const { dropped } = ended.reply;
  void noteRefused(store, call.card, dropped);
  const answer = { ...ended.texts, dropped, row: closed };
  return answered(await untilWritten(() => keepAnswer(store, answer, texts.entries)), rows);
}

/** Another run may have made a call with an identity; resuming a background answer opens no row to detect others. */
function isNew({ identity, card }: ModelCall, { attempt }: Pick<Info, 'attempt'>): boolean {
  return attempt === 1 && identity === undefined && card.background !== true;
}

/** Returns the stored answer of an attempt that may have died before it completed its row. */
async function takeKept(store: Store, kept: KeptAnswer, blank: OpenRow): Promise<WorkerResult> {
  await untilWritten(() => writeRow(store, kept.row));
  return answered(kept, await rowsOfCall(store, blank));
}

function answered({ row, ...answer }: KeptAnswer, rows: readonly LedgerRow[]): WorkerResult {
  const { startedAt, endedAt } = row;
  return { ...answer, calls: [...withoutRow(rows, row), row].map(callOf), startedAt, endedAt };
}

/** Returns the call for judging a reply that has arrived. */
function asSent(call: ModelCall): SentRequest {
  return { ...call, apiKey: null, signal: Context.current().cancellationSignal };
}

function withoutRow(rows: readonly LedgerRow[], { attempt }: LedgerRow): LedgerRow[] {
  return rows.filter((row) => row.attempt !== attempt);
}

/** Takes the texts of an answer to those that are kept with it. One over the store's cap fails the call, though billed. */
function takeTexts(
  texts: NewTexts,
  { worker, card, toolTurn }: ModelCall,
  sent: Answered,
): (Answered & { readonly texts: Pick<KeptAnswer, 'output' | 'thoughts' | 'cut' | 'turn'> }) | Failed {
  const { reply } = sent;
  const { text, thoughts, finish, turn } = reply;
  try {
    return {
      ...sent,
      texts: {
        output: texts.add(text),
        ...(thoughts !== undefined && { thoughts: texts.add(thoughts) }),
        ...(finish === 'length' && { cut: true }),
        ...(toolTurn && turn && { turn: keepTurn(texts, toolTurn, turn) }),
      },
    };
  } catch (error) {
    if (!(error instanceof TextTooLargeError)) throw error;
    const message = `worker ${worker} (${card.model}) answered with ${error.message}`;
    const failure = { type: FAILURES.textTooLarge, message, retryable: false } as const;
    return { kind: 'failed', failure: { ...failure, billed: 'yes', health: 'good' }, reply };
  }
}

async function toFailure(
  store: Store,
  call: ModelCall,
  { failure, reply }: Failed,
  rows: readonly LedgerRow[],
): Promise<Error> {
  const over = failure.retryable ? endOfWaiting(call, failure, rows) : null;
  if (over !== null) return over;
  const { text = '', finish, dropped = [] } = reply ?? {};
  const isCut = finish === 'length' && text.trim() !== '' && !failure.retryable;
  const partial = isCut ? await untilWritten(() => keepText(store, text)) : undefined;
  return toError(failure, rows, { dropped, partial, ...(await keepThoughts(store, reply)) });
}

async function keepThoughts(store: Store, reply: ModelReply | null): Promise<{ readonly thoughts?: Text }> {
  const { thoughts } = reply ?? {};
  return thoughts === undefined ? {} : { thoughts: await untilWritten(() => keepText(store, thoughts)) };
}

const USUAL_MAX_WAIT_MS = 2 * 60 * 1000;

/** Returns the final failure in place of one that Temporal would retry in vain, or null if it may. */
function endOfWaiting(call: ModelCall, failure: ProviderFailure, rows: readonly LedgerRow[]): Error | null {
  const { type, message, nextRetryDelayMs } = failure;
  // A retry would only wait for a request that will not be sent.
  if (type !== FAILURES.cancelled && rows.length >= call.allowance.requests) return requestsSpent(call, rows);
  const { maxWaitMs = USUAL_MAX_WAIT_MS } = call.card as Partial<ModelCard>;
  const waitMs = nextRetryDelayMs ?? 0;
  if (call.hasFallback !== true || waitMs <= maxWaitMs) return null;
  const [wait, most] = [waitMs, maxWaitMs].map((ms) => `${Math.ceil(ms / 1000)} s`);
  const then = `It asks for a wait of ${wait}, over the worker's maxWait of ${most}: another worker stands in.`;
  return toError({ ...failure, message: `${message} ${then}`, retryable: false }, rows);
}

/** A request, the row that accounts for it, and the other rows of its call. */
interface MadeRequest {
  readonly row: LedgerRow;
  readonly sent: Ended | LeftRunning;
  readonly others: readonly LedgerRow[];
}

/**
 * Waits for a background answer that the vendor may still be writing. Otherwise, if the model may be called now,
 * opens a ledger row and sends a request. Returns null if another attempt opened that row: an answer may exist by now.
 * @throws ApplicationFailure if no further request may be sent, for good or until the rate limiter has room
 */
async function makeRequest(
  dependencies: Dependencies,
  call: ModelCall,
  { blank, apiKey, earlier }: { blank: OpenRow; apiKey: string | null; earlier: readonly LedgerRow[] },
): Promise<MadeRequest | null> {
  const { store, pacing } = dependencies;
  const begun = call.card.background === true ? await findBegun(store, blank.callId) : null;
  const running = earlier.find(({ attempt, endedAt }) => attempt === begun?.attempt && endedAt === null);
  if (begun !== null && running !== undefined) {
    const wait = () => callInBackground(dependencies, call, apiKey, running, begun);
    const sent = await whileAsking(call, running, wait);
    return { row: running, sent, others: withoutRow(earlier, running) };
  }
  if (isCancelled()) throw toError(brokenOff(false).failure, earlier);
  const { requests, billable } = call.allowance;
  if (earlier.length >= requests) throw requestsSpent(call, earlier);
  // Process lost, or request broken off: the cost is not known to be zero.
  const mayBeBilled = earlier.filter(({ nanoUsd }) => nanoUsd !== 0);
  if (mayBeBilled.length >= billable) throw processLost(call, earlier);
  // Before the model's rate is asked, since the request has to follow at once.
  await loadSdk(call.card.provider);
  const permit = await pacing(call, earlier);
  let report = NOTHING_LEARNT;
  try {
    const attempt = (earlier.at(-1)?.attempt ?? 0) + 1;
    const row = { ...blank, attempt, startedAt: new Date().toISOString() };
    // The row stays open for good if this process dies.
    if (!(await createRow(store, row))) return null;
    const send = () => sendUnlessOver(dependencies, call, { apiKey, row, permit });
    const sent = await whileAsking(call, row, send);
    report = rateReportOf(sent);
    return { row, sent, others: earlier };
  } finally {
    permit.release(report);
  }
}

function isCancelled(): boolean {
  return Context.current().cancellationSignal.aborted;
}

/** Sends a request unless the attempt is over: Temporal may have given it up while the process was frozen. */
async function sendUnlessOver(
  dependencies: Dependencies,
  call: ModelCall,
  { apiKey, row, permit }: { apiKey: string | null; row: LedgerRow; permit: Permit },
): Promise<Ended | LeftRunning> {
  const obstacle = await permit.confirm();
  if (isCancelled()) return brokenOff(false);
  if (obstacle !== null) {
    const message = `no request was sent, and the call will be tried again: ${obstacle}`;
    const failure = { type: FAILURES.throttled, message, retryable: true } as const;
    return { kind: 'failed', failure: { ...failure, billed: 'no', health: 'unknown' }, reply: null };
  }
  if (call.card.background === true) return callInBackground(dependencies, call, apiKey, row, null);
  const { rootId, live, toolTurn } = call;
  const { workflowId, round, step, callId, attempt, startedAt } = row;
  const place = { rootId, workflowId, round, step, turn: toolTurn?.index, callId, attempt, startedAt };
  const onText = live === true ? dependencies.liveLog.open(place, makerOf(call.card)) : undefined;
  const sent = await sendRequest(dependencies.complete, call, { apiKey, callId, onText });
  if (live === true && sent.reply?.turn !== undefined) await dependencies.liveLog.flush();
  return sent;
}
