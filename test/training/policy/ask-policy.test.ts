import { askPolicy, type ServedPolicy } from '../../../src/training/policy/client';
import { POLICY_FAILURES } from '../../../src/training/policy/errors';
import { type ScriptedPolicy, startScriptedPolicy } from '../../support/scripted-policy';

let server: ScriptedPolicy;
beforeEach(async () => {
  server = await startScriptedPolicy('one');
});
afterEach(() => server.close());

function ask(change: Partial<ServedPolicy> = {}): ReturnType<typeof askPolicy> {
  const fixed = { folder: 'nightly/000001/model', vocabulary: 400, maxPromptTokens: 500 };
  const question = { messages: [{ role: 'user', text: 'Hi' } as const], n: 1, temperature: 1, maxTokens: 8 };
  const policy = { model: 'one', ...fixed, baseUrl: server.baseUrl, ...change };
  return askPolicy(policy, question, new AbortController().signal);
}

test('a prompt that is longer than the checkpoint may be given', async () => {
  await expect(ask({ maxPromptTokens: 10 })).rejects.toMatchObject({ code: POLICY_FAILURES.promptTooLong });
  expect(server.bodiesTo('/v1/completions')).toEqual([]);
});

test('a checkpoint is loaded once for a request, and no more where that does not help', async () => {
  const noModel = { status: 404, body: '{"error":{"message":"The model does not exist."}}' };
  server.answerOnce('/v1/completions', noModel);
  server.answerOnce('/v1/completions', noModel);
  await expect(ask()).rejects.toMatchObject({ code: POLICY_FAILURES.unknownModel });
  expect(server.bodiesTo('/v1/load_lora_adapter')).toHaveLength(1);
});
