import { ActivityNotFoundError, type Client } from '@temporalio/client';
import { INLINE_CALL_BYTES, isCallerId, type ToolAnswer } from '../../protocol/tool-use';
import { keepCallerCall, keepCallerResult, readCallerCall, readCallerResult } from '../../store/caller-calls';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import type { WaitingCall } from '../../trace/waiting-calls';
import { RefusedError } from '../steer';

/** A call of one of the caller's functions, which waits for its result. `id` is `cdr_` and 20 letters and digits. */
export type CallerCall = Omit<WaitingCall, 'arguments'> & {
  /** JSON, as the model wrote it. */
  readonly arguments: string;
};

/** What the caller's function returned; `isError`: the model is told that it failed. */
export interface CallerResult {
  readonly call: string;
  readonly output: string;
  readonly isError?: boolean;
}

/** A call that was told to a caller. */
export interface ToldCall {
  readonly id: string;
  /** The solve that it belongs to. */
  readonly root: string;
  readonly name: string;
  /** Position of the event that told it in the solve's stream. */
  readonly cursor: string;
  /** null while nobody has given it. */
  readonly result: Omit<CallerResult, 'call'> | null;
}

/** Thrown for a result that differs from the one which the run already has. */
export class ResultDiffersError extends RefusedError {
  override readonly name = 'ResultDiffersError';
  override readonly code = 'ResultDiffers';
}

/** Thrown for the result of a call that no longer waits, or never did. */
export class CallOverError extends RefusedError {
  override readonly name = 'CallOverError';
  override readonly code = 'CallOver';
}

/** Thrown for a result that no model could read. */
export class ResultTooLongError extends RefusedError {
  override readonly name = 'ResultTooLongError';
  override readonly code = 'ResultTooLong';
}

const MAX_RESULT_BYTES = 1024 * 1024;

/** Keeps where calls wait, so that their results find them; before anybody is told of the calls. */
export async function keepTold(
  store: Store,
  root: string,
  { calls, cursor }: { readonly calls: readonly CallerCall[]; readonly cursor: string },
): Promise<void> {
  for (const { id, run, name } of calls) await keepCallerCall(store, id, { root, run, name, cursor });
}

export async function findCall(store: Store, id: string): Promise<ToldCall | null> {
  const kept = isCallerId(id) ? await readCallerCall(store, id) : null;
  if (kept === null) return null;
  const { root, name, cursor } = kept;
  const result = await readCallerResult(store, id);
  return { id, root, name, cursor, result: result && (await resultOf(store, result)) };
}

async function resultOf(store: Store, { outcome, output }: ToolAnswer): Promise<Omit<CallerResult, 'call'>> {
  return { output: await readText(store, output), ...(outcome === 'error' && { isError: true }) };
}

/**
 * Gives results to their runs. The first result of a call counts, and the same one again changes nothing.
 * @throws CallOverError, ResultDiffersError, ResultTooLongError, before any result is given
 */
export async function giveResults(
  client: Client,
  store: Store,
  results: readonly CallerResult[],
): Promise<void> {
  const given = await Promise.all(results.map((result) => answerTo(client, store, result)));
  for (const { call, run, answer } of given) {
    if (!isSame(await keepCallerResult(store, call, answer), answer)) throw differing(call);
    await complete(client, run, call, answer);
  }
}

interface GivenAnswer {
  readonly call: string;
  readonly run: string;
  readonly answer: ToolAnswer;
}

async function answerTo(
  client: Client,
  store: Store,
  { call, output, isError = false }: CallerResult,
): Promise<GivenAnswer> {
  const bytes = Buffer.byteLength(output);
  if (bytes > MAX_RESULT_BYTES) {
    const rule = `at most ${MAX_RESULT_BYTES} are accepted: shorten it, or give the part that matters`;
    throw new ResultTooLongError(
      `the result of call ${JSON.stringify(call.slice(0, 64))} has ${bytes} bytes; ${rule}`,
    );
  }
  const told = isCallerId(call) ? await readCallerCall(store, call) : null;
  if (told === null) {
    throw new CallOverError(
      `there is no call ${JSON.stringify(call.slice(0, 64))}: give the id of one that waits`,
    );
  }
  const kept = await keepText(store, output, INLINE_CALL_BYTES);
  const answer: ToolAnswer = { outcome: isError ? 'error' : 'ok', output: kept };
  const before = await readCallerResult(store, call);
  if (before !== null && !isSame(before, answer)) throw differing(call);
  if (before === null && !(await isOpen(client, told.run, call))) {
    throw new CallOverError(
      `call ${call} of ${told.name} no longer waits: its time is over, or run ${told.root} has ended`,
    );
  }
  return { call, run: told.run, answer };
}

function differing(call: string): ResultDiffersError {
  return new ResultDiffersError(`call ${call} has another result already: the first one counts`);
}

function isSame(one: ToolAnswer, other: ToolAnswer): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a run waits for the result of a call. */
async function isOpen(client: Client, run: string, call: string): Promise<boolean> {
  const { raw, status } = await client.workflow.getHandle(run).describe();
  // The server lists the activities of a run that was cancelled as pending for ever.
  if (status.name !== 'RUNNING') return false;
  return (raw.pendingActivities ?? []).some(({ activityId }) => activityId === call);
}

/** Ends the wait for a result. A call that no worker has taken yet finds the result in the store. */
async function complete(client: Client, run: string, call: string, answer: ToolAnswer): Promise<void> {
  try {
    await client.activity.complete({ workflowId: run, activityId: call }, answer);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
}
