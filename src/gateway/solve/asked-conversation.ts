import { someOf } from '../../config/errors';
import { fenceAround } from '../../plan/prompt/fences';
import type { ConversationCall } from '../../plan/plan';
import { putInWords, tellResult } from '../../plan/prompt/told-calls';
import type { ConversationTurn } from '../../protocol/input';
import { isCallerId } from '../../protocol/tool-use';
import { badRequest } from '../refusal';
import type { Utterance, UtteredCall, UtteredResult } from './request-calls';

/** Results of functions of the caller, for which a run waits. */
export interface HandedResults {
  readonly results: readonly UtteredResult[];
  /** Text sent along with the results, for the models that read them; empty if there was none. */
  readonly said: string;
  /** The user's part of that text, a hint for the Conductor. */
  readonly hint: string;
}

/** A conversation as it is passed on: turns to answer, or results that a run of ours waits for. */
export interface AskedConversation {
  readonly messages: readonly ConversationTurn[];
  readonly handed?: HandedResults;
}

/**
 * Reads what a conversation asks for: with results of our calls at its end, that their run goes on.
 * @throws Refusal if some calls of the last answer have a result, and others have none
 */
export function readAsked(said: readonly Utterance[]): AskedConversation {
  const asked = said.slice(0, said.findLastIndex(isOfModel) + 1);
  const last = said.slice(asked.length);
  const results = last.filter((each) => each.kind === 'result');
  const messages = turnsOf(said);
  if (!results.some(({ id }) => isCallerId(id))) return { messages };
  refuseMissing(asked.slice(asked.findLastIndex((each) => !isOfModel(each)) + 1), results);
  const texts = last.filter((each) => each.kind === 'text');
  const joined = (some: readonly ConversationTurn[]): string =>
    some.map(({ content }) => content).join('\n\n');
  const hint = joined(texts.filter(({ role }) => role === 'user'));
  return { messages, handed: { results, said: joined(texts), hint } };
}

/** A call that the conversation does not have was lost with its answer, and is told again instead. */
function refuseMissing(answer: readonly Utterance[], results: readonly UtteredResult[]): void {
  const given = new Set(results.map(({ id }) => id));
  const called = answer.flatMap((each) => (each.kind === 'call' ? [each.id] : []));
  const missing = called.filter((id) => isCallerId(id) && !given.has(id));
  if (missing.length === 0) return;
  const { place = '' } = results.at(-1) ?? {};
  const remedy = 'send the results of all calls of an answer in one request';
  throw badRequest(`${place}: no result follows for ${someOf(missing)}: ${remedy}`, place, 'result_missing');
}

function isOfModel(said: Utterance): boolean {
  return said.kind === 'call' || (said.kind === 'text' && said.role === 'assistant');
}

/** Returns what was said as turns. Calls behind the last question are put in words, since a conversation ends with it. */
function turnsOf(said: readonly Utterance[]): readonly ConversationTurn[] {
  const asked = said.findLastIndex((each) => each.kind === 'text' && each.role === 'user');
  // Some servers begin anew with their ids in each turn: a result is that of the first call that has none.
  const results = new Map<string, UtteredResult[]>();
  for (const each of said)
    if (each.kind === 'result') results.set(each.id, [...(results.get(each.id) ?? []), each]);
  const called = new Set(said.flatMap((each) => (each.kind === 'call' ? [each.id] : [])));
  const fence = fenceAround(said.flatMap((each) => (each.kind === 'result' ? [each.output] : [])));
  const turnsIn = (some: readonly Utterance[]): ConversationTurn[] => {
    const turns: ConversationTurn[] = [];
    for (const [index, each] of some.entries()) {
      if (each.kind === 'text') turns.push(turnOf(each));
      else if (each.kind === 'call')
        addCall(turns, toldCall(each, results.get(each.id)?.shift()), some[index - 1]);
      else if (!called.has(each.id))
        turns.push({ role: 'user', content: tellResult(each.output, each.isError, fence) });
    }
    return turns;
  };
  return [...turnsIn(said.slice(0, asked + 1)), ...putInWords(turnsIn(said.slice(asked + 1)))];
}

/** Turns of an earlier response may have calls of their own. */
function turnOf({ role, content, calls }: ConversationTurn): ConversationTurn {
  return { role, content, ...(calls && { calls }) };
}

/** Adds a call to what was said before it, if the model said or called that in the same turn. */
function addCall(turns: ConversationTurn[], call: ConversationCall, before: Utterance | undefined): void {
  const last = turns.at(-1);
  if (last === undefined || before === undefined || !isOfModel(before))
    turns.push({ role: 'assistant', content: '', calls: [call] });
  else turns[turns.length - 1] = { ...last, calls: [...(last.calls ?? []), call] };
}

function toldCall({ name, input }: UtteredCall, result: UtteredResult | undefined): ConversationCall {
  if (result === undefined) return { name, arguments: input };
  return { name, arguments: input, output: result.output, ...(result.isError && { isError: true }) };
}
