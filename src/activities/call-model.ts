import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { keyFor } from '../pool/keys';
import type { Call } from '../protocol/call';
import { FAILURES, type CallFailureDetails } from '../protocol/failures';
import type { Text } from '../protocol/text';
import { findAnswer, keepAnswer, type KeptAnswer } from '../store/answers';
import { rowsOfCall, writeRow, type LedgerRow } from '../store/ledger';
import { keepText, TextTooLargeError } from '../store/texts';
import { closeRow, openRow, type ClosedRow } from './attempt';
import { callIdOf } from './call-id';
import type { Dependencies } from './dependencies';
import type { AnsweredCall, ModelCall } from './model-call';
import { sendRequest, type FailedRequest } from './send-request';

/** Requests sent for one call, lost ones included, before it has failed for good. */
const MAX_REQUESTS = 5;

/**
 * Makes one model call durable. Every model call of the product goes through here.
 *
 * 1. An answer kept under the call id by an earlier attempt is returned, and nothing is sent.
 * 2. A ledger row is written before the request, so no request is ever unaccounted for.
 * 3. One HTTP request is sent.
 * 4. A usable answer is kept before anybody is told of it; then the row is completed.
 *
 * The window in which a crash buys a call twice is step 3 alone.
 *
 * @throws ApplicationFailure of a `Provider.*` type with `CallFailureDetails`
 */
export async function callModel(dependencies: Dependencies, call: ModelCall): Promise<AnsweredCall> {
  const { store, config, env } = dependencies;
  const info = activityInfo();
  const callId = callIdOf(info, requestOf(call));
  const earlier = await rowsOfCall(store, info.workflowExecution?.runId ?? '', callId);
  const kept = await findAnswer(store, callId);
  if (kept !== null) return recall(dependencies, kept, earlier);

  if (earlier.length >= MAX_REQUESTS) throw spent(call, earlier);
  const apiKey = keyFor(call.card, config, env);
  const row = await openRow(store, call, { callId, attempt: earlier.length + 1, info });
  const sent = await sendRequest(dependencies, call, apiKey);
  if (sent.kind === 'failed') throw await recordFailure(dependencies, call, sent, row, earlier);

  const output = await keepOutput(dependencies, call, sent.reply.text, row);
  const closed = closeRow(row, call, { ...sent.reply, error: null, billed: 'yes' });
  const answer: KeptAnswer = { output, dropped: sent.reply.dropped, row: closed };
  await keepAnswer(store, answer);
  await writeRow(store, closed);
  return answered(answer, earlier);
}

/** The part of a call that makes it the same call: the whole request, and not what it costs. */
function requestOf(call: ModelCall): unknown {
  const { provider, model, api, baseUrl, temperature, effort } = call.card;
  const { messages, maxOutputTokens, outputSchema, seed } = call;
  return {
    provider,
    model,
    api,
    baseUrl,
    temperature,
    effort,
    messages,
    maxOutputTokens,
    outputSchema,
    seed,
  };
}

/** Returns what an earlier attempt was answered. It may have died before it completed its row. */
async function recall(
  { store }: Dependencies,
  kept: KeptAnswer,
  earlier: LedgerRow[],
): Promise<AnsweredCall> {
  await writeRow(store, kept.row);
  return answered(
    kept,
    earlier.filter((row) => row.attempt !== kept.row.attempt),
  );
}

function answered({ output, dropped, row }: KeptAnswer, earlier: readonly LedgerRow[]): AnsweredCall {
  const { startedAt, endedAt } = row;
  return { output, calls: [...earlier.map(asCall), asCall(row)], dropped, startedAt, endedAt };
}

async function keepOutput(
  { store }: Dependencies,
  call: ModelCall,
  text: string,
  row: LedgerRow,
): Promise<Text> {
  try {
    return await keepText(store, text);
  } catch (error) {
    if (!(error instanceof TextTooLargeError)) throw error;
    const message = `worker ${call.worker} (${call.card.model}) answered with ${error.message}`;
    const problem = { type: FAILURES.textTooLarge, message };
    const closed = closeRow(row, call, {
      error: problem,
      usage: null,
      billed: 'unknown',
      reportedNanoUsd: null,
    });
    await writeRow(store, closed);
    throw failure(problem, { nonRetryable: true, details: detailsOf(call, [closed], closed) });
  }
}

async function recordFailure(
  { store }: Dependencies,
  call: ModelCall,
  failed: FailedRequest,
  row: LedgerRow,
  earlier: readonly LedgerRow[],
): Promise<Error> {
  const closed = closeRow(row, call, failed.outcome);
  await writeRow(store, closed);
  if (failed.rethrow !== undefined) return failed.rethrow;
  const partial = failed.partial === '' ? {} : { partial: await keepText(store, failed.partial) };
  return failure(failed.outcome.error, {
    nonRetryable: !failed.retryable,
    nextRetryDelayMs: failed.nextRetryDelayMs,
    details: { ...detailsOf(call, [...earlier, closed], closed), ...partial, dropped: failed.dropped },
  });
}

/** The cap on requests is reached: the last failure becomes final. */
function spent(call: ModelCall, earlier: readonly LedgerRow[]): ApplicationFailure {
  const last = earlier.at(-1)?.error ?? { type: FAILURES.unavailable, message: 'its process was lost' };
  const problem = { type: last.type, message: `gave up after ${earlier.length} requests: ${last.message}` };
  const now = new Date().toISOString();
  const span = { startedAt: earlier[0]?.startedAt ?? now, endedAt: now };
  return failure(problem, { nonRetryable: true, details: detailsOf(call, earlier, span) });
}

function detailsOf(
  { resolved }: ModelCall,
  rows: readonly LedgerRow[],
  span: Pick<ClosedRow, 'startedAt' | 'endedAt'>,
): CallFailureDetails {
  const { startedAt, endedAt } = span;
  return { calls: rows.map(asCall), startedAt, endedAt, ...resolved };
}

function failure(
  { type, message }: { type: string; message: string },
  how: { nonRetryable: boolean; nextRetryDelayMs?: number | null; details: CallFailureDetails },
): ApplicationFailure {
  const { nonRetryable, nextRetryDelayMs, details } = how;
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable,
    details: [details],
    ...(nextRetryDelayMs == null ? {} : { nextRetryDelay: nextRetryDelayMs }),
  });
}

function asCall(row: LedgerRow): Call {
  const { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd } = row;
  return { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd };
}
