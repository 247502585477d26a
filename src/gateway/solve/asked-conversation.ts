import { type Fence, fenceAround } from '../../plan/prompt/fences';
import type { ConversationTurn } from '../../protocol/input';
import { isCallerId } from '../../protocol/tool-use';
import type { Utterance, UtteredCall, UtteredResult } from './request-calls';

/** Results of functions of the caller, for which a run waits. */
export interface HandedResults {
  readonly results: readonly UtteredResult[];
  /** What the user says beside them; '' for nothing. */
  readonly hint: string;
}

/** A conversation as it is passed on: turns to answer, or results that a run of ours waits for. */
export interface AskedConversation {
  readonly messages: readonly ConversationTurn[];
  readonly handed?: HandedResults;
}

/** Reads what a conversation asks for: with results of our calls at its end, that their run goes on. */
export function readAsked(said: readonly Utterance[]): AskedConversation {
  const last = said.slice(said.findLastIndex(isOfModel) + 1);
  const results = last.filter((each) => each.kind === 'result');
  const messages = asText(said);
  if (!results.some(({ id }) => isCallerId(id))) return { messages };
  const texts = last.flatMap((each) => (each.kind === 'text' && each.role === 'user' ? [each.content] : []));
  return { messages, handed: { results, hint: texts.join('\n\n') } };
}

function isOfModel(said: Utterance): boolean {
  return said.kind === 'call' || (said.kind === 'text' && said.role === 'assistant');
}

/**
 * Returns the turns of a conversation in words, for models that cannot call, too. Calls are told beside what the user
 * said: a model that reads them as its own words writes such words in place of calls.
 */
function asText(said: readonly Utterance[]): ConversationTurn[] {
  const turns: ConversationTurn[] = [];
  const results = said.filter((each) => each.kind === 'result');
  const fence = fenceAround(said.flatMap(textsOf));
  const isCalled = new Set(said.flatMap((each) => (each.kind === 'call' ? [each.id] : [])));
  for (const each of said) {
    if (each.kind === 'text') turns.push({ role: each.role, content: each.content });
    else if (each.kind === 'call') {
      const result = results.find(({ id }) => id === each.id);
      turns.push({ role: 'user', content: tellCall(each, result, fence) });
    } else if (!isCalled.has(each.id)) turns.push({ role: 'user', content: tellResult(each, fence) });
  }
  return turns;
}

function textsOf(said: Utterance): string[] {
  if (said.kind === 'text') return [said.content];
  return said.kind === 'call' ? [said.input] : [said.output];
}

function tellCall({ name, input }: UtteredCall, result: UtteredResult | undefined, fence: Fence): string {
  const called = `Here the assistant called the function ${name} with:\n${fence('arguments', input)}`;
  if (result === undefined) return `${called}\nIt has no result.`;
  return `${called}\n${tellResult(result, fence)}`;
}

function tellResult({ output, isError }: UtteredResult, fence: Fence): string {
  return `${isError ? 'It failed, and told' : 'Its result'}:\n${fence('result', output)}`;
}
