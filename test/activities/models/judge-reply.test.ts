import { judgeReply } from '../../../src/activities/models/failure';
import type { ModelReply } from '../../../src/activities/models/model';
import { FAILURES } from '../../../src/protocol/failures';
import { aCard, aRequest, NOTHING } from './ask';

function judge(reply: Partial<ModelReply>) {
  return judgeReply({ ...NOTHING, ...reply }, aRequest(aCard({})));
}

test('a whole answer is usable as it came', () => {
  expect(judge({ text: ' Eight. \n' })).toMatchObject({ kind: 'answered', reply: { text: ' Eight. \n' } });
});

test.each<[string, Partial<ModelReply>, string, string]>([
  [
    "a refusal, with the model's own words",
    { finish: 'refusal', refusal: 'Not that.', text: 'Sorry' },
    FAILURES.refused,
    'worker ada (openai sim-1) declined: Not that. ',
  ],
  [
    'a cut answer',
    { finish: 'length', text: 'Eight legs, some' },
    FAILURES.truncated,
    'before the answer was whole',
  ],
  ['reasoning alone', { finish: 'length', text: ' ' }, FAILURES.truncated, 'before the first word'],
  ['an empty answer', { text: '\n' }, FAILURES.badResponse, 'an empty answer'],
])('%s is a failure that was billed', (_, reply, type, words) => {
  const message = expect.stringContaining(words) as string;
  expect(judge(reply)).toMatchObject({
    kind: 'failed',
    failure: { type, message, retryable: false, billed: 'yes' },
    reply,
  });
});
