import { PolicyClient, type SampleRequest } from '../../src/policy/policy-client';
import { createAskPolicy } from '../../src/policy/ask-policy';
import { POLICY_FAILURES } from '../../src/training/policy-failures';
import { startScriptedPolicy, type ScriptedPolicy } from '../support/scripted-policy';
import * as vllm from './vllm-exchanges';

/*
 * The client against answers of vLLM 0.31.0, written by hand from its protocol source.
 */

let server: ScriptedPolicy;
let client: PolicyClient;
beforeEach(async () => {
  server = await startScriptedPolicy();
  client = new PolicyClient(server.baseUrl);
});
afterEach(() => server.close());

const never = new AbortController().signal;
const MODEL = 'nightly-000012';
const REQUEST: SampleRequest = {
  model: MODEL,
  vocabulary: 152_064,
  prompt: vllm.TOKENIZED.tokens,
  n: 2,
  seed: 7,
  temperature: 1,
  maxTokens: 4,
};

function answer(path: string, body: unknown, status = 200): void {
  server.answerOnce(path, { status, body: typeof body === 'string' ? body : JSON.stringify(body) });
}

test('tokens of a text', async () => {
  answer('/tokenize', vllm.TOKENIZED);
  expect(await client.tokenize(MODEL, 'Hi', never)).toEqual(vllm.TOKENIZED.tokens);
  expect(server.bodiesTo('/tokenize')).toEqual([{ model: MODEL, prompt: 'Hi', add_special_tokens: false }]);
});

test('replies in the order of their index, with what was asked of the sampler', async () => {
  answer('/v1/completions', vllm.COMPLETED);
  expect(await client.sample(REQUEST, never)).toEqual([
    { text: 'Hi', tokenIds: [13_048, 151_645], logprobs: [-1.5, -0.0625], finishReason: 'stop' },
    {
      text: 'model_id = [',
      tokenIds: [2528, 842, 284, 508],
      logprobs: [-0.125, -2.5, 0, -9999],
      finishReason: 'length',
    },
  ]);
  // Nothing is left to the defaults of a model's generation_config.json.
  expect(server.bodiesTo('/v1/completions')).toEqual([
    {
      model: MODEL,
      prompt: vllm.TOKENIZED.tokens,
      n: 2,
      seed: 7,
      temperature: 1,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      max_tokens: 4,
      logprobs: 0,
      return_token_ids: true,
    },
  ]);
});

test.each([
  ['loaded', vllm.LOADED, 200],
  ['loaded before', vllm.LOADED_ALREADY, 400],
] as const)('an adapter that is %s', async (_, body, status) => {
  answer('/v1/load_lora_adapter', body, status);
  await client.load(MODEL, '/checkpoints/12', never);
  expect(server.bodiesTo('/v1/load_lora_adapter')).toEqual([
    { lora_name: MODEL, lora_path: '/checkpoints/12' },
  ]);
});

test.each([
  ['a folder without an adapter', vllm.NO_ADAPTER, 404],
  ['an adapter that does not fit', vllm.NOT_LOADABLE, 500],
  ['a server that may not load any', vllm.NO_ROUTE, 404],
] as const)('%s cannot be loaded, now or later', async (_, body, status) => {
  answer('/v1/load_lora_adapter', body, status);
  await expect(client.load(MODEL, '/checkpoints/12', never)).rejects.toMatchObject({
    type: POLICY_FAILURES.unknownModel,
    retryable: false,
    happened: expect.stringContaining(body.error.message.replace(/\.$/, '')) as string,
  });
});

test('a model that is not known is loaded, and asked once more', async () => {
  answer('/tokenize', vllm.NO_MODEL, 404);
  answer('/tokenize', vllm.TOKENIZED);
  answer('/v1/completions', vllm.COMPLETED);
  const policy = {
    model: MODEL,
    path: '/checkpoints/12',
    tokenizerSha256: 'x',
    vocabulary: 152_064,
    maxPromptTokens: 100,
    servers: [server.baseUrl],
  };
  const question = { messages: [{ role: 'user', text: 'Hi' }], n: 2, temperature: 1, maxTokens: 4 } as const;
  const { promptTokenIds, samples } = await createAskPolicy()(policy, question, never);
  expect(promptTokenIds).toEqual(vllm.TOKENIZED.tokens);
  expect(samples).toHaveLength(2);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/tokenize',
    '/v1/load_lora_adapter',
    '/tokenize',
    '/v1/completions',
  ]);
});

test.each([
  ['a prompt too long for it', vllm.TOO_LONG, 400, POLICY_FAILURES.rejected],
  ['an address that is none of its', vllm.NO_ROUTE, 404, POLICY_FAILURES.unknownModel],
  ['overload', '', 503, POLICY_FAILURES.unavailable],
  ['an engine that died', vllm.NOT_LOADABLE, 500, POLICY_FAILURES.unavailable],
  ['a gateway without it', '<html><title>Bad gateway</title></html>', 502, POLICY_FAILURES.unavailable],
] as const)('%s', async (_, body, status, type) => {
  answer('/v1/completions', body, status);
  await expect(client.sample(REQUEST, never)).rejects.toMatchObject({ type });
});

const [late, early] = vllm.COMPLETED.choices as [Choice, Choice];
type Choice = (typeof vllm.COMPLETED.choices)[number];

function withChoice(change: Partial<Record<keyof Choice, unknown>>): unknown {
  return { ...vllm.COMPLETED, choices: [late, { ...early, ...change }] };
}
function withLogprobs(...logprobs: unknown[]): unknown {
  return withChoice({ logprobs: { ...early.logprobs, token_logprobs: logprobs } });
}

test.each([
  ['a log-probability that is null', withLogprobs(-1, null), /choices\.1\.logprobs\.token_logprobs\.1/],
  ['one above 0', withLogprobs(-1, 0.5), /choices\.1\.logprobs\.token_logprobs\.1/],
  ['one too few', withLogprobs(-1), /a log-probability for each token/],
  ['no log-probabilities at all', withChoice({ logprobs: null }), /choices\.1\.logprobs/],
  ['no token ids', withChoice({ token_ids: null }), /choices\.1\.token_ids/],
  [
    'no token at all',
    withChoice({ token_ids: [], logprobs: { token_logprobs: [] } }),
    /choices\.1\.token_ids/,
  ],
  ['a way to end that is unknown', withChoice({ finish_reason: 'repetition' }), /choices\.1\.finish_reason/],
  ['one reply twice', withChoice({ index: 1 }), /has 1 replies, and 2 were asked for/],
  ['a reply too few', { ...vllm.COMPLETED, choices: [early] }, /has 1 replies, and 2 were asked for/],
  [
    'a token that the checkpoint does not know',
    withChoice({ token_ids: early.token_ids.map(() => 152_064) }),
    /holds token 152064, and nightly-000012 knows 0 to 152063/,
  ],
  ['another prompt', withChoice({ prompt_token_ids: [1, 2] }), /to another prompt than was sent/],
  ['another model', { ...vllm.COMPLETED, model: 'nightly-000011' }, /by nightly-000011/],
  ['a number that JSON lacks', JSON.stringify(withLogprobs(-1, 'x')).replace('"x"', 'NaN'), /cannot be read/],
  ['half an answer', JSON.stringify(vllm.COMPLETED).slice(0, 300), /cannot be read/],
  ['a page', '<html></html>', /cannot be read/],
] as const)('an answer with %s is none, and is not asked for again', async (_, body, message) => {
  answer('/v1/completions', body);
  await expect(client.sample(REQUEST, never)).rejects.toMatchObject({
    type: POLICY_FAILURES.badReply,
    retryable: false,
    message: expect.stringMatching(message) as string,
  });
});

test('what rounding lifts above 0 is 0', async () => {
  answer('/v1/completions', withLogprobs(-1, 1e-7));
  const [first] = await client.sample(REQUEST, never);
  expect(first?.logprobs).toEqual([-1, 0]);
});

test('a reply that a server breaks off as it goes to sleep is asked for again', async () => {
  answer('/v1/completions', withChoice({ finish_reason: 'abort' }));
  await expect(client.sample(REQUEST, never)).rejects.toMatchObject({
    type: POLICY_FAILURES.unavailable,
    retryable: true,
  });
});
