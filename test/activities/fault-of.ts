import { ApplicationFailure } from '@temporalio/activity';
import { openStore } from '../../src';
import { checkAnswer } from '../../src/activities/check-answer';
import type { WorkerResult } from '../../src/protocol/activity-contract';

/** Never read or written: the texts of these tests are short enough to stay inline. */
export const store = openStore('sqlite:none.db', '/nowhere');

export function resultOf(output: string): WorkerResult {
  return { output, calls: [], dropped: [], startedAt: '', endedAt: '' };
}

/** Returns why an answer does not fit the schema, or null if it does. */
export async function faultOf(schema: object, answer: string): Promise<string | null> {
  const result = resultOf(answer);
  try {
    expect(await checkAnswer(store, { answerSchema: JSON.stringify(schema) }, result)).toBe(result);
    return null;
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    expect(error).toMatchObject({ type: 'Answer.Invalid', nonRetryable: true });
    expect(error.details).toEqual([{ calls: [], dropped: [], startedAt: '', endedAt: '', partial: answer }]);
    return error.message.replace('the answer does not fit answerSchema: ', '');
  }
}
