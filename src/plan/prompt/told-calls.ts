import type { ConversationCall } from '../plan';
import { type Fence, fenceAround, type SaidTurn } from './fences';

/**
 * Returns a conversation with its calls in words, for models that cannot read them otherwise. They stand beside what the
 * user said: a model that reads them as its own words writes such words in place of calls.
 */
export function putInWords(turns: readonly SaidTurn[]): Omit<SaidTurn, 'calls'>[] {
  const texts = turns.flatMap(({ content, calls = [] }) => [content, ...calls.flatMap(textsOf)]);
  const fence = fenceAround(texts);
  return turns.flatMap(({ role, content, calls = [] }) => [
    ...(content === '' ? [] : [{ role, content }]),
    ...calls.map((call) => ({ role: 'user' as const, content: tellCall(call, fence) })),
  ]);
}

function textsOf({ arguments: input, output = '' }: ConversationCall): string[] {
  return [input, output];
}

function tellCall({ name, arguments: input, output, isError }: ConversationCall, fence: Fence): string {
  const called = `Here the assistant called the function ${name} with:\n${fence('arguments', input)}`;
  if (output === undefined) return `${called}\nIt has no result.`;
  return `${called}\n${tellResult(output, isError === true, fence)}`;
}

/** Puts a result into words, of a call that may be told before it. */
export function tellResult(output: string, isError: boolean, fence: Fence): string {
  return `${isError ? 'It failed, and told' : 'Its result'}:\n${fence('result', output)}`;
}
