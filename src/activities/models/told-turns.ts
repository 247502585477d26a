import type { ConversationCall } from '../../plan/plan';
import { argumentsIn, type CallPart, madeId, type ResultPart, type Turn } from '../../protocol/parts';
import { safeName } from '../tools/offered-name';

/**
 * Returns an answer of an earlier run that ended with calls, and their results, as the turns that vendors demand: each
 * call has one result, under an id of ours, since those of other vendors may be given twice or be too long.
 * @param place number of the turn in its conversation
 */
export function toldTurns(text: string, calls: readonly ConversationCall[], place: number): [Turn, Turn] {
  const asked = calls.map(({ name, arguments: input }, index): CallPart => ({
    kind: 'call',
    id: madeId('told', place, index),
    name: safeName(name),
    input: argumentsIn(input) === null ? JSON.stringify({ input }) : input,
  }));
  const results = calls.map(({ output, isError }, index): ResultPart => ({
    kind: 'result',
    id: madeId('told', place, index),
    name: asked[index]?.name ?? '',
    text: output ?? 'There is no result.',
    ...((isError === true || output === undefined) && { isError: true }),
  }));
  const said = text === '' ? [] : [{ kind: 'text' as const, text }];
  return [
    { role: 'assistant', parts: [...said, ...asked] },
    { role: 'user', parts: results },
  ];
}
