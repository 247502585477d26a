import { settleBackground } from '../../src/activities/call-in-background';
import type { CallContext } from '../../src/activities/models/failure';
import type { ModelReply } from '../../src/activities/models/model';
import { FAILURES } from '../../src/protocol/failures';

const CONTEXT: CallContext = {
  worker: 'ada',
  provider: 'openai',
  model: 'sim-1',
  signal: new AbortController().signal,
  secret: null,
  timeoutMs: 1000,
};
const USAGE = { inputTokens: 3, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 };
const NOTHING: ModelReply = {
  text: '',
  finish: 'stop',
  refusal: null,
  usage: null,
  reportedNanoUsd: null,
  dropped: [],
};

function failed(code: string, usage: ModelReply['usage'] = null): unknown {
  const reply = { ...NOTHING, usage };
  return settleBackground({ status: 'failed', reply, code, reason: 'Words.' }, CONTEXT);
}

test.each([
  ['rate_limit_exceeded', FAILURES.rateLimited, true, 'no'],
  ['server_error', FAILURES.unavailable, true, 'no'],
  ['invalid_prompt', FAILURES.badRequest, false, 'no'],
  ['something_new', FAILURES.badResponse, false, 'unknown'],
])('%s is what it would have been on a held connection', (code, type, retryable, billed) => {
  expect(failed(code)).toMatchObject({ kind: 'failed', failure: { type, retryable, billed } });
});

test('what failed with usage was billed, and Temporal must not repeat it', () => {
  expect(failed('server_error', USAGE)).toMatchObject({
    failure: { type: FAILURES.badResponse, retryable: false, billed: 'yes' },
    reply: { usage: USAGE },
  });
});

test.each([
  ['cancelled', { status: 'cancelled', reply: NOTHING }, 'was asked by someone else to give up its answer'],
  ['lost', { status: 'lost' }, 'no longer knows the answer that it had begun'],
] as const)('one that is %s may have been billed: the workflow decides', (_, ended, happened) => {
  expect(settleBackground(ended, CONTEXT)).toMatchObject({
    failure: {
      type: FAILURES.interrupted,
      billed: 'unknown',
      message: expect.stringContaining(`worker ada (openai sim-1) ${happened}.`) as unknown,
    },
  });
});

test('a refusal is judged as any other', () => {
  const reply: ModelReply = { ...NOTHING, finish: 'refusal', usage: USAGE };
  expect(settleBackground({ status: 'answered', reply }, CONTEXT)).toMatchObject({
    failure: { type: FAILURES.refused, billed: 'yes' },
  });
});
