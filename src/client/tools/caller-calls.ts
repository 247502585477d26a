import { ActivityNotFoundError, type Client } from '@temporalio/client';
import { INLINE_CALL_BYTES, isCallerId, type ToolAnswer } from '../../protocol/tool-use';
import {
  keepCallerCall,
  keepCallerResult,
  type KeptCall,
  readCallerCall,
  readCallerResult,
} from '../../store/caller-calls';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import type { WaitingCall } from '../../trace/waiting-calls';
import { type AskedRequest, checkFunctions, keepFunctions } from '../check-question';
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

/** What a caller gives beside results: its functions from now on, and whether the next turn must ask for one. */
export interface Beside extends Pick<AskedRequest, 'tools' | 'toolChoice'> {
  /** Words for each model that reads one of the results. */
  readonly said?: string | undefined;
}

/**
 * Gives results to their runs. The first result of a call counts, with what was said beside it, and the same one again
 * changes nothing.
 * @throws BadQuestionError for functions that no vendor takes, CallOverError or ResultTooLongError for any of the calls, before a
 * result is given
 * @throws ResultDiffersError for the first result that differs from what its run has; those before it are given
 */
export async function giveResults(
  client: Client,
  store: Store,
  results: readonly CallerResult[],
  beside: Beside = {},
): Promise<void> {
  const said = await saidIn(store, beside);
  const next = await wishesIn(store, beside);
  const given = await Promise.all(results.map((result) => readGiven(store, result)));
  await refuseOver(client, given);
  for (const { call, run, answer } of given) {
    const first = await keepCallerResult(store, call, { ...answer, ...said, ...next });
    if (!isSame(first, answer)) {
      throw new ResultDiffersError(`call ${call} has another result already: the first one counts`);
    }
    await complete(client, run, call, first);
  }
}

async function saidIn(store: Store, { said = '' }: Beside): Promise<Pick<ToolAnswer, 'said'>> {
  refuseTooLong('what is said beside the results', said);
  return said.trim() === '' ? {} : { said: await keepText(store, said, INLINE_CALL_BYTES) };
}

/** @throws ResultTooLongError */
function refuseTooLong(what: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_RESULT_BYTES) return;
  const rule = `at most ${MAX_RESULT_BYTES} are accepted: shorten it, or give the part that matters`;
  throw new ResultTooLongError(`${what} has ${bytes} bytes; ${rule}`);
}

async function wishesIn(store: Store, { tools, toolChoice }: Beside): Promise<Pick<ToolAnswer, 'next'>> {
  if (tools !== undefined) checkFunctions(tools);
  const functions = tools && { functions: await keepFunctions(store, tools) };
  const wishes = { ...functions, ...(toolChoice === 'required' && { mustCall: true as const }) };
  return Object.keys(wishes).length === 0 ? {} : { next: wishes };
}

interface GivenAnswer extends Pick<KeptCall, 'root' | 'run' | 'name'> {
  readonly call: string;
  readonly answer: ToolAnswer;
  /** Whether a result of it was given before. */
  readonly isAnswered: boolean;
}

async function readGiven(
  store: Store,
  { call, output, isError = false }: CallerResult,
): Promise<GivenAnswer> {
  refuseTooLong(`the result of call ${JSON.stringify(call.slice(0, 64))}`, output);
  const told = isCallerId(call) ? await readCallerCall(store, call) : null;
  if (told === null) {
    throw new CallOverError(
      `there is no call ${JSON.stringify(call.slice(0, 64))}: give the id of one that waits`,
    );
  }
  const kept = await keepText(store, output, INLINE_CALL_BYTES);
  const answer: ToolAnswer = { outcome: isError ? 'error' : 'ok', output: kept };
  return { ...told, call, answer, isAnswered: (await readCallerResult(store, call)) !== null };
}

function isSame(one: ToolAnswer, other: ToolAnswer): boolean {
  return one.outcome === other.outcome && JSON.stringify(one.output) === JSON.stringify(other.output);
}

/** Asks the server once for each run. @throws CallOverError for a call without a result that no longer waits for one */
async function refuseOver(client: Client, given: readonly GivenAnswer[]): Promise<void> {
  const unanswered = given.filter(({ isAnswered }) => !isAnswered);
  for (const run of new Set(unanswered.map((each) => each.run))) {
    const open = await openCallsOf(client, run);
    const over = unanswered.find((each) => each.run === run && !open.includes(each.call));
    if (over === undefined) continue;
    const { call, name, root } = over;
    throw new CallOverError(
      `call ${call} of ${name} no longer waits: its time is over, or run ${root} has ended`,
    );
  }
}

/** Returns the ids of the activities that a run waits for. */
async function openCallsOf(client: Client, run: string): Promise<readonly unknown[]> {
  const { raw, status } = await client.workflow.getHandle(run).describe();
  // The server lists the activities of a run that was cancelled as pending for ever.
  if (status.name !== 'RUNNING') return [];
  return (raw.pendingActivities ?? []).map(({ activityId }) => activityId);
}

/** Ends the wait for a result. A call that no worker has taken yet finds the result in the store. */
async function complete(client: Client, run: string, call: string, answer: ToolAnswer): Promise<void> {
  try {
    await client.activity.complete({ workflowId: run, activityId: call }, answer);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
}
