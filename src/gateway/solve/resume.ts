import type { Context } from 'hono';
import {
  BadQuestionError,
  CallOverError,
  RefusedError,
  ResultTooLongError,
  type ToldCall,
} from '../../client';
import type { Sender } from '../../protocol/messages';
import type { Key } from '../access/keys';
import { senderOf } from '../access/rights';
import type { Env, Gateway } from '../gateway';
import { badRequest } from '../refusal';
import type { HandedResults } from './asked-conversation';
import type { UtteredResult } from './request-calls';
import type { CallerTools } from './request-tools';
import { booking, mayTouch, type Started } from './start-solve';

/** A solve that was given results, and goes on from where it told its calls. */
export interface Resumed extends Started {
  readonly after: string;
  /** The last call that it was given the result of: it tells this answer from others of the solve. */
  readonly call: string;
  /** Why the Conductor is not told the words beside the results. */
  readonly warnings: readonly string[];
}

/**
 * Gives results to the solve that waits for them. The same request again changes nothing, and gets the same answer.
 * @throws Refusal for results of no call of the key's, of several solves, or of a call that no longer waits
 */
export async function resumeSolve(
  c: Context<Env>,
  gateway: Gateway,
  { results, said, hint }: HandedResults,
  { tools, isDemanded }: CallerTools,
): Promise<Resumed> {
  const { conductor } = gateway;
  const key = c.get('key');
  const calls = await Promise.all(results.map((result) => findOwnCall(gateway, key, result)));
  const { root, cursor: after, id: call } = onlySolve(calls, results);
  await gateway.workers.require();
  const isNew = calls.some(({ result }) => result === null);
  const warnings = isNew && hint !== '' ? await addHint(gateway, root, hint, senderOf(key)) : [];
  const given = results.map(({ id, output, isError }) => ({ call: id, output, isError }));
  const beside = {
    said,
    ...(tools.length > 0 && { tools }),
    ...(isDemanded && { toolChoice: 'required' as const }),
  };
  await conductor.submit(given, beside).catch(refuse);
  const solve = booking(gateway, key, await conductor.attach(root));
  return { ...solve, isNew: false, after, call, warnings };
}

async function findOwnCall(
  { conductor }: Gateway,
  key: Key,
  { id, place }: UtteredResult,
): Promise<ToldCall> {
  const call = await conductor.findCall(id);
  if (call !== null && mayTouch(key, call.root)) return call;
  const shown = JSON.stringify(id.slice(0, 64));
  const remedy = 'send back the ids of the calls that this key was answered with';
  throw badRequest(`${place}: this key was told no call ${shown}: ${remedy}`, place, 'call_not_found');
}

/** Returns the call that was told last, of the solve that all belong to. */
function onlySolve(calls: readonly ToldCall[], results: readonly UtteredResult[]): ToldCall {
  const last = calls.at(-1);
  const other = calls.findIndex(({ root }) => root !== last?.root);
  if (last !== undefined && other === -1) return last;
  const place = results[other]?.place ?? '';
  const message = `${place} is the result of a call of another answer than the last one: send the results of each with its own conversation`;
  throw badRequest(message, place);
}

/** A run takes few hints, and results must not be lost for one. */
async function addHint(
  { conductor }: Gateway,
  root: string,
  hint: string,
  sender: Sender,
): Promise<string[]> {
  try {
    await conductor.addHint(root, hint, sender);
    return [];
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return [`the Conductor is not told the text beside the results: ${error.message}`];
  }
}

function refuse(error: unknown): never {
  if (error instanceof BadQuestionError) throw badRequest(error.message, 'tools');
  const isWrong = error instanceof CallOverError || error instanceof ResultTooLongError;
  throw isWrong ? badRequest(error.message, 'messages', error.code) : error;
}
