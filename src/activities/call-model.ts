import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { keyFor } from '../pool/keys';
import type { WorkerResult } from '../protocol/activities';
import { FAILURES } from '../protocol/failures';
import type { RolloutCall } from '../training/rollout';
import type { Text } from '../protocol/text';
import { findAnswer, keepAnswer, type KeptAnswer } from '../store/answers';
import { callOf, rowsOfCall, writeRow, type LedgerRow } from '../store/ledger';
import { keepText, TextTooLargeError } from '../store/texts';
import { closeRow } from './attempt';
import { callDetails, comeBackLater, requestsSpent } from './call-details';
import { callIdOf } from './call-id';
import type { Dependencies } from './dependencies';
import { makeRequest } from './make-request';
import type { ModelCall } from './model-call';
import { toApplicationFailure } from './models/failure';
import { outcomeOf, type SentRequest } from './send-request';

/**
 * Makes one model call durable. Every model call of the product goes through here.
 *
 * 1. An answer kept under the call id by an earlier attempt is returned, and nothing is sent.
 * 2. An answer that an earlier attempt began in the background is waited for, under the same ledger row.
 * 3. Else a ledger row is written before the request, so no request is ever unaccounted for; but where its model may not
 *    be asked just now, nothing is written or sent, and Temporal calls again later.
 * 4. One request is sent. In the background it brings an id, which is kept before anybody asks how far the answer is;
 *    asking costs nothing, and opens no row.
 * 5. A usable answer is kept before anybody is told of it; then the row is completed.
 *
 * The window in which a crash buys a call twice is the request of step 4 alone: until its answer arrives, or in the
 * background until its id does.
 *
 * @throws ApplicationFailure of a `Provider.*` type, `Worker.Throttled` or `Worker.CircuitOpen`, with `CallFailureDetails`
 */
export async function callModel(dependencies: Dependencies, call: ModelCall): Promise<WorkerResult> {
  const { store, config, env } = dependencies;
  const info = activityInfo();
  const callId = callIdOf(info, identityOf(call), rolloutCallOf(call));
  const earlier = await rowsOfCall(store, info.workflowExecution?.runId ?? '', callId);
  const kept = await findAnswer(store, callId);
  if (kept !== null) return recall(dependencies, kept, earlier);

  const apiKey = keyFor(call.card, config, env);
  const { row, sent } = await makeRequest(dependencies, call, { callId, apiKey, earlier });
  const others = earlier.filter(({ attempt }) => attempt !== row.attempt);
  if (sent.kind === 'left-running') throw comeBackLater(call, sent, [...others, row]);
  if (sent.kind !== 'answered') throw await bookFailure(dependencies, call, sent, row, others);

  const output = await keepOutput(dependencies, call, sent, row, others);
  const answer = { output, dropped: sent.reply.dropped, row: closeRow(row, call, outcomeOf(sent)) };
  await keepAnswer(store, answer);
  await writeRow(store, answer.row);
  return answered(answer, others);
}

/** A call of a rollout, by its place in the training run. */
function rolloutCallOf({ rollout, round, step, worker }: ModelCall): RolloutCall | undefined {
  return rollout && { ...rollout, round, step, worker };
}

/**
 * The part of a call that makes it the same call: everything that is sent, and not what it costs. A rollout that is
 * played once more may find the same model at another address.
 */
function identityOf({ card, rollout, ...call }: ModelCall): unknown {
  const { provider, model, api, baseUrl, temperature, effort } = card;
  const { messages, maxOutputTokens, outputSchema, seed } = call;
  return {
    provider,
    model,
    api,
    ...(rollout === undefined && { baseUrl }),
    temperature,
    effort,
    messages,
    maxOutputTokens,
    outputSchema,
    seed,
  };
}

/** Returns what an earlier attempt was answered. That attempt may have died before it completed its row. */
async function recall(
  { store }: Dependencies,
  kept: KeptAnswer,
  rows: readonly LedgerRow[],
): Promise<WorkerResult> {
  await writeRow(store, kept.row);
  const others = rows.filter((row) => row.attempt !== kept.row.attempt);
  return answered(kept, others);
}

function answered({ output, dropped, row }: KeptAnswer, earlier: readonly LedgerRow[]): WorkerResult {
  const { startedAt, endedAt } = row;
  return { output, calls: [...earlier.map(callOf), callOf(row)], dropped, startedAt, endedAt };
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
    return await keepText(store, sent.reply.text);
  } catch (error) {
    if (!(error instanceof TextTooLargeError)) throw error;
    const message = `worker ${call.worker} (${call.card.model}) answered with ${error.message}`;
    const problem = { type: FAILURES.textTooLarge, message };
    const closed = closeRow(row, call, { ...outcomeOf(sent), error: problem });
    await writeRow(store, closed);
    const details = [callDetails(call, [...earlier, closed])];
    throw ApplicationFailure.create({ ...problem, nonRetryable: true, details });
  }
}

/** Completes the row of a request without a usable answer, and makes the failure that tells of it. */
async function bookFailure(
  { store }: Dependencies,
  call: ModelCall,
  sent: Exclude<SentRequest, Answered>,
  row: LedgerRow,
  earlier: readonly LedgerRow[],
): Promise<Error> {
  const closed = closeRow(row, call, outcomeOf(sent));
  await writeRow(store, closed);
  if (sent.kind === 'broken-off') return sent.error;
  const rows = [...earlier, closed];
  // Waiting for one more that will not be sent would only make the bad news late.
  if (sent.failure.retryable && rows.length >= call.allowance.requests) return requestsSpent(call, rows);
  return toApplicationFailure(sent.failure, {
    ...callDetails(call, rows),
    dropped: sent.reply?.dropped ?? [],
    ...(sent.partial === null ? {} : { partial: await keepText(store, sent.partial) }),
  });
}
