import { judgeReply } from '../../../src/activities/models/failure';
import type { ModelReply } from '../../../src/activities/models/model';
import { FAILURES } from '../../../src/protocol/failures';

const CONTEXT = {
  worker: 'gpt',
  provider: 'openai',
  model: 'gpt-6-sol',
  signal: new AbortController().signal,
  secret: null,
  timeoutMs: 60_000,
};

function judge(reply: Partial<ModelReply>) {
  const whole: ModelReply = {
    text: '',
    finish: 'stop',
    refusal: null,
    usage: null,
    reportedNanoUsd: null,
    dropped: [],
    ...reply,
  };
  return judgeReply(whole, CONTEXT);
}

test('a whole answer is usable as it came', () => {
  expect(judge({ text: ' Eight. \n' })).toMatchObject({ kind: 'answered', reply: { text: ' Eight. \n' } });
});

test("a refusal fails with the model's own words, whatever text came with it", () => {
  expect(judge({ finish: 'refusal', refusal: 'Not that.', text: 'Sorry' })).toMatchObject({
    kind: 'failed',
    failure: {
      type: FAILURES.refused,
      message: expect.stringContaining('worker gpt (openai gpt-6-sol) declined: Not that. ') as string,
      retryable: false,
      billed: 'yes',
    },
    partial: null,
  });
});

test('a cut answer fails and keeps what had arrived', () => {
  expect(judge({ finish: 'length', text: 'Eight legs, some' })).toMatchObject({
    kind: 'failed',
    failure: { type: FAILURES.truncated, retryable: false, billed: 'yes' },
    partial: 'Eight legs, some',
  });
});

test('reasoning that used up the limit leaves nothing to keep', () => {
  expect(judge({ finish: 'length', text: ' ' })).toMatchObject({
    kind: 'failed',
    failure: {
      type: FAILURES.truncated,
      message: expect.stringContaining('before the first word') as string,
    },
    partial: null,
  });
});

test('an empty answer is a bad response that was billed', () => {
  expect(judge({ text: '\n' })).toMatchObject({
    kind: 'failed',
    failure: { type: FAILURES.badResponse, retryable: false, billed: 'yes' },
    partial: null,
  });
});
