import { createAskPolicy } from '../../../src/training/policy/ask';
import type { ServedPolicy } from '../../../src/training/policy/client';
import { POLICY_FAILURES } from '../../../src/training/policy/errors';
import { type ScriptedPolicy, startScriptedPolicy } from '../../support/scripted-policy';

let server: ScriptedPolicy;
beforeEach(async () => {
  server = await startScriptedPolicy('one', 'two');
});
afterEach(() => server.close());

const never = new AbortController().signal;

function question(text: string, n = 1) {
  return { messages: [{ role: 'user', text } as const], n, temperature: 1, maxTokens: 8 };
}

function policyOf(model: string, change: Partial<ServedPolicy> = {}): ServedPolicy {
  const fixed = {
    folder: 'nightly/000001/model',
    tokenizerSha256: 'same',
    vocabulary: 400,
    maxPromptTokens: 500,
  };
  return { model, ...fixed, servers: [server.baseUrl], ...change };
}

test('a prompt is taken apart once for all checkpoints of one tokenizer', async () => {
  const ask = createAskPolicy();
  const { promptTokenIds } = await ask(policyOf('one'), question('Hi'), never);
  expect((await ask(policyOf('two'), question('Hi'), never)).promptTokenIds).toEqual(promptTokenIds);
  expect(server.bodiesTo('/tokenize')).toHaveLength(1);

  await ask(policyOf('one'), question('Hello'), never);
  await ask(policyOf('one', { tokenizerSha256: 'other' }), question('Hi'), never);
  expect(server.bodiesTo('/tokenize')).toHaveLength(3);
});

test('a prompt that one checkpoint may be given can be too long for another', async () => {
  const ask = createAskPolicy();
  await ask(policyOf('one'), question('Hi'), never);
  await expect(ask(policyOf('two', { maxPromptTokens: 10 }), question('Hi'), never)).rejects.toMatchObject({
    code: POLICY_FAILURES.promptTooLong,
  });
});

test('a checkpoint is loaded once for a request, and no more where that does not help', async () => {
  const noModel = { status: 404, body: '{"error":{"message":"The model does not exist."}}' };
  server.answerOnce('/v1/completions', noModel);
  server.answerOnce('/v1/completions', noModel);
  await expect(createAskPolicy()(policyOf('one'), question('Hi'), never)).rejects.toMatchObject({
    code: POLICY_FAILURES.unknownModel,
    retryable: false,
  });
  expect(server.bodiesTo('/v1/load_lora_adapter')).toHaveLength(1);
});

test('the next server is asked only where one is out of order', async () => {
  const other = await startScriptedPolicy('one');
  const servers = [server.baseUrl, other.baseUrl];
  const ask = createAskPolicy();
  server.answerOnce('/v1/completions', { status: 503, body: '' });
  await ask(policyOf('one', { servers }), question('Hi'), never);
  expect(other.bodiesTo('/v1/completions')).toHaveLength(1);

  server.answerOnce('/v1/completions', { status: 400, body: '' });
  await expect(ask(policyOf('one', { servers }), question('Hi'), never)).rejects.toMatchObject({
    code: POLICY_FAILURES.rejected,
  });
  expect(other.bodiesTo('/v1/completions')).toHaveLength(1);
  await other.close();
});
